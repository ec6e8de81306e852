// The demo: decodes tokens with a small transformer, as an inference server does it. One step is
// run eagerly, then captured into a graph of some 300 kernels, then the graph is replayed for each
// token, with a copy in before and copies out after it on a second stream. What was decoded is
// checked against the host, bit for bit.

#include <hip/hip_runtime.h>

#include "kernels.h"

#include <argp.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace decode
{

#define DECODE_INDEX(count)                                                                        \
    int item = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);                            \
    if (item >= (count))                                                                           \
        return;

__global__ void embed(const int32_t *embedding, const decode_step_t *step, int32_t *hidden)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_embed(item, embedding, step, hidden);
}

__global__ void norm(const int32_t *hidden, int32_t *normal)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_norm(item, hidden, normal);
}

__global__ void matvec(const int32_t *matrix, const int32_t *vector, int32_t *result, int rows,
                       int columns)
{
    DECODE_INDEX(rows)
    decode_matvec(item, matrix, vector, columns, result);
}

__global__ void rotate(const decode_step_t *step, int32_t *qkv)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_rotate(item, step, qkv);
}

__global__ void append(const decode_step_t *step, const int32_t *qkv, decode_cache_t *cache)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_append(item, step, qkv, cache);
}

__global__ void scores(const int32_t *qkv, const decode_cache_t *cache, int32_t *scores)
{
    DECODE_INDEX(DECODE_HEADS * DECODE_WINDOW)
    decode_scores(item, qkv, cache, scores);
}

__global__ void soften(const decode_step_t *step, const int32_t *scores, int32_t *shares)
{
    DECODE_INDEX(DECODE_HEADS * DECODE_WINDOW)
    decode_soften(item, step, scores, shares);
}

__global__ void mix(const int32_t *shares, const decode_cache_t *cache, int32_t *mixed)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_mix(item, shares, cache, mixed);
}

__global__ void add(const int32_t *change, int32_t *hidden)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_add(item, change, hidden);
}

__global__ void gated(const int32_t *up, const int32_t *gate, const int32_t *normal, int32_t *inner)
{
    DECODE_INDEX(DECODE_INNER)
    decode_gated(item, up, gate, normal, inner);
}

__global__ void down(const int32_t *weights, const int32_t *inner, int32_t *hidden)
{
    DECODE_INDEX(DECODE_WIDTH)
    decode_down(item, weights, inner, hidden);
}

__global__ void pick(const int32_t *logits, const decode_step_t *step, int32_t *next)
{
    DECODE_INDEX(1)
    decode_pick(logits, step, next);
}

} // namespace decode

namespace
{

constexpr int block = 64;
constexpr int32_t first_token = 1;

struct Options {
    int tokens = 400;
    int layers = 25;
    bool quiet = false;
};

// What the program knows of its own launches.
struct Count {
    unsigned long long eager = 0, captured = 0, replays = 0;
    unsigned long long total() const
    {
        return eager + captured * replays;
    }
};

void must(hipError_t status, const char *what)
{
    if (status != hipSuccess) {
        std::fprintf(stderr, "rtl-demo-decode: %s: %s\n", what, hipGetErrorString(status));
        std::exit(1);
    }
}

template <class T> T *device_memory(size_t count)
{
    void *memory = nullptr;
    must(hipMalloc(&memory, count * sizeof(T)), "allocating GPU memory");
    must(hipMemset(memory, 0, count * sizeof(T)), "clearing GPU memory");
    return static_cast<T *>(memory);
}

template <class T> T *pinned_memory(size_t count)
{
    void *memory = nullptr;
    must(hipHostMalloc(&memory, count * sizeof(T)), "allocating pinned memory");
    return static_cast<T *>(memory);
}

// The model on the device, with the buffers between its kernels.
struct Model {
    decode_layer_t *weights;
    int32_t *embedding;
    decode_cache_t *caches;
    decode_step_t *step;
    int32_t *hidden, *normal, *qkv, *scores, *shares, *mixed, *change, *inner, *logits, *next;
};

// The model's weights on the host.
struct Weights {
    std::vector<decode_layer_t> layers;
    std::vector<int32_t> embedding;

    explicit Weights(int count)
        : layers(static_cast<size_t>(count)), embedding(DECODE_VOCABULARY * DECODE_WIDTH)
    {
        for (size_t layer = 0; layer < layers.size(); layer++) {
            decode_fill_weights(reinterpret_cast<int32_t *>(&layers[layer]),
                                sizeof(decode_layer_t) / sizeof(int32_t),
                                static_cast<uint32_t>(layer + 1));
        }
        decode_fill_weights(embedding.data(), embedding.size(), 0);
    }
};

Model upload(const Weights &weights)
{
    Model model{};
    size_t layers = weights.layers.size();
    model.weights = device_memory<decode_layer_t>(layers);
    model.embedding = device_memory<int32_t>(weights.embedding.size());
    model.caches = device_memory<decode_cache_t>(layers);
    model.step = device_memory<decode_step_t>(1);
    model.hidden = device_memory<int32_t>(DECODE_WIDTH);
    model.normal = device_memory<int32_t>(DECODE_WIDTH);
    model.qkv = device_memory<int32_t>(DECODE_QKV);
    model.scores = device_memory<int32_t>(DECODE_HEADS * DECODE_WINDOW);
    model.shares = device_memory<int32_t>(DECODE_HEADS * DECODE_WINDOW);
    model.mixed = device_memory<int32_t>(DECODE_WIDTH);
    model.change = device_memory<int32_t>(DECODE_WIDTH);
    model.inner = device_memory<int32_t>(DECODE_INNER);
    model.logits = device_memory<int32_t>(DECODE_VOCABULARY);
    model.next = device_memory<int32_t>(1);
    must(hipMemcpy(model.weights, weights.layers.data(), layers * sizeof(decode_layer_t),
                   hipMemcpyHostToDevice),
         "copying the weights");
    must(hipMemcpy(model.embedding, weights.embedding.data(),
                   weights.embedding.size() * sizeof(int32_t), hipMemcpyHostToDevice),
         "copying the embedding");
    return model;
}

// Launches kernels on a stream and counts them.
class Launcher
{
  public:
    Launcher(hipStream_t stream, unsigned long long *count) : stream_(stream), count_(count)
    {
    }
    template <class... Parameters, class... Arguments>
    void operator()(void (*kernel)(Parameters...), int items, Arguments... arguments) const
    {
        dim3 grid(static_cast<unsigned>((items + block - 1) / block));
        kernel<<<grid, dim3(block), 0, stream_>>>(arguments...);
        must(hipGetLastError(), "launching a kernel");
        ++*count_;
    }

  private:
    hipStream_t stream_;
    unsigned long long *count_;
};

void launch_layer(const Launcher &launch, const Model &model, int number)
{
    const decode_layer_t *layer = model.weights + number;
    decode_cache_t *cache = model.caches + number;
    const int pairs = DECODE_HEADS * DECODE_WINDOW;
    launch(decode::norm, DECODE_WIDTH, model.hidden, model.normal);
    launch(decode::matvec, DECODE_QKV, layer->qkv, model.normal, model.qkv, DECODE_QKV,
           DECODE_WIDTH);
    launch(decode::rotate, DECODE_WIDTH, model.step, model.qkv);
    launch(decode::append, DECODE_WIDTH, model.step, model.qkv, cache);
    launch(decode::scores, pairs, model.qkv, cache, model.scores);
    launch(decode::soften, pairs, model.step, model.scores, model.shares);
    launch(decode::mix, DECODE_WIDTH, model.shares, cache, model.mixed);
    launch(decode::matvec, DECODE_WIDTH, layer->out, model.mixed, model.change, DECODE_WIDTH,
           DECODE_WIDTH);
    launch(decode::add, DECODE_WIDTH, model.change, model.hidden);
    launch(decode::norm, DECODE_WIDTH, model.hidden, model.normal);
    launch(decode::gated, DECODE_INNER, layer->up, layer->gate, model.normal, model.inner);
    launch(decode::down, DECODE_WIDTH, layer->down, model.inner, model.hidden);
}

void require_gpu()
{
    int gpus = 0;
    if (hipGetDeviceCount(&gpus) != hipSuccess || gpus == 0) {
        std::fprintf(stderr,
                     "rtl-demo-decode: HIP sees no GPU; softgpu-run gives one in software\n");
        std::exit(1);
    }
}

// One decode step, from the token in model.step to model.logits.
void launch_step(const Launcher &launch, const Model &model, int layers)
{
    launch(decode::embed, DECODE_WIDTH, model.embedding, model.step, model.hidden);
    for (int layer = 0; layer < layers; layer++) {
        launch_layer(launch, model, layer);
    }
    launch(decode::norm, DECODE_WIDTH, model.hidden, model.normal);
    launch(decode::matvec, DECODE_VOCABULARY, model.embedding, model.normal, model.logits,
           DECODE_VOCABULARY, DECODE_WIDTH);
}

hipGraphExec_t capture_step(hipStream_t stream, const Model &model, int layers, Count *count)
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    must(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), "beginning the capture");
    launch_step(Launcher(stream, &count->captured), model, layers);
    must(hipStreamEndCapture(stream, &graph), "ending the capture");
    must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "instantiating the graph");
    must(hipGraphDestroy(graph), "destroying the captured graph");
    return exec;
}

// The two streams, the events between them, and the pinned buffers at the ends.
struct Pipeline {
    hipStream_t compute = nullptr, sample = nullptr;
    hipEvent_t stepped = nullptr, sampled = nullptr;
    decode_step_t *step = pinned_memory<decode_step_t>(1);
    int32_t *logits = pinned_memory<int32_t>(DECODE_VOCABULARY);
    int32_t *next = pinned_memory<int32_t>(1);

    Pipeline()
    {
        must(hipStreamCreate(&compute), "creating a stream");
        must(hipStreamCreate(&sample), "creating a stream");
        must(hipEventCreateWithFlags(&stepped, hipEventDisableTiming), "creating an event");
        must(hipEventCreateWithFlags(&sampled, hipEventDisableTiming), "creating an event");
    }
};

void copy_in(const Pipeline &pipe, const Model &model, int32_t token, int position)
{
    *pipe.step = {token, position};
    must(hipMemcpyAsync(model.step, pipe.step, sizeof *pipe.step, hipMemcpyHostToDevice,
                        pipe.compute),
         "copying the token in");
}

// Picks the next token on the second stream and copies it out, while the first waits for it.
int32_t sample(const Pipeline &pipe, const Model &model, Count *count)
{
    must(hipEventRecord(pipe.stepped, pipe.compute), "recording an event");
    must(hipStreamWaitEvent(pipe.sample, pipe.stepped, 0), "waiting for an event");
    Launcher(pipe.sample, &count->eager)(decode::pick, 1, model.logits, model.step, model.next);
    must(hipMemcpyAsync(pipe.logits, model.logits, DECODE_VOCABULARY * sizeof(int32_t),
                        hipMemcpyDeviceToHost, pipe.sample),
         "copying the logits out");
    must(hipMemcpyAsync(pipe.next, model.next, sizeof(int32_t), hipMemcpyDeviceToHost, pipe.sample),
         "copying the token out");
    must(hipEventRecord(pipe.sampled, pipe.sample), "recording an event");
    must(hipStreamWaitEvent(pipe.compute, pipe.sampled, 0), "waiting for an event");
    must(hipEventSynchronize(pipe.sampled), "waiting for a step");
    return *pipe.next;
}

// Logits and tokens of all steps.
struct Output {
    std::vector<int32_t> logits, tokens;
    explicit Output(int steps)
        : logits(static_cast<size_t>(steps) * DECODE_VOCABULARY), tokens(static_cast<size_t>(steps))
    {
    }
    int steps() const
    {
        return static_cast<int>(tokens.size());
    }
    void keep(int steps)
    {
        logits.resize(static_cast<size_t>(steps) * DECODE_VOCABULARY);
        tokens.resize(static_cast<size_t>(steps));
    }
    uint64_t checksum() const
    {
        uint64_t sum = 0xCBF29CE484222325U;
        for (const std::vector<int32_t> *part : {&logits, &tokens}) {
            for (int32_t value : *part) {
                sum = (sum ^ static_cast<uint32_t>(value)) * 0x100000001B3U;
            }
        }
        return sum;
    }
};

// A server ends by a signal, and in order: with the step that it is at.
volatile std::sig_atomic_t told_to_end = 0;

void end_in_order(int)
{
    told_to_end = 1;
}

// The first step eagerly, as a warm-up; the others as replays of the captured one.
Output decode_all(const Options &options, const Model &model, Count *count)
{
    Pipeline pipe;
    Output output(options.tokens + 1);
    hipGraphExec_t exec = nullptr;
    int32_t token = first_token;
    int position = 0;
    for (; position <= options.tokens && (position == 0 || !told_to_end); position++) {
        copy_in(pipe, model, token, position);
        if (position == 0) {
            launch_step(Launcher(pipe.compute, &count->eager), model, options.layers);
        } else {
            must(hipGraphLaunch(exec, pipe.compute), "launching the graph");
            count->replays++;
        }
        token = sample(pipe, model, count);
        output.tokens[static_cast<size_t>(position)] = token;
        std::memcpy(&output.logits[static_cast<size_t>(position) * DECODE_VOCABULARY], pipe.logits,
                    DECODE_VOCABULARY * sizeof(int32_t));
        if (exec == nullptr) {
            exec = capture_step(pipe.compute, model, options.layers, count);
        }
    }
    must(hipDeviceSynchronize(), "waiting for the GPU");
    must(hipGraphExecDestroy(exec), "destroying the graph");
    output.keep(position);
    return output;
}

bool matches_host(const Options &options, const Weights &weights, const Output &output)
{
    Output host(output.steps());
    if (decode_reference(weights.layers.data(), weights.embedding.data(), options.layers,
                         first_token, output.steps(), host.logits.data(),
                         host.tokens.data()) != 0) {
        std::fprintf(stderr, "rtl-demo-decode: out of memory\n");
        std::exit(1);
    }
    return host.logits == output.logits && host.tokens == output.tokens;
}

int parse_count(const char *text, const char *option, int most, argp_state *state)
{
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most) {
        argp_error(state, "--%s: '%s' is not a number from 1 to %d", option, text, most);
    }
    return static_cast<int>(value);
}

error_t parse(int key, char *argument, argp_state *state)
{
    auto *options = static_cast<Options *>(state->input);
    switch (key) {
    case 't':
        options->tokens = parse_count(argument, "tokens", 1000000, state);
        return 0;
    case 'l':
        options->layers = parse_count(argument, "layers", 1000, state);
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

} // namespace

int main(int argc, char **argv)
{
    static const argp_option known[] = {
        {"tokens", 't', "N", 0, "Tokens to decode by replays of the graph (400)", 0},
        {"layers", 'l', "N", 0, "Layers of the model, 12 kernels each (25)", 0},
        {"quiet", 'q', nullptr, 0, "Print nothing when all is well", 0},
        {nullptr, 0, nullptr, 0, nullptr, 0}};
    static const argp parser = {
        known,   parse,   nullptr, "Decodes tokens with a small model on a GPU through HIP.",
        nullptr, nullptr, nullptr};
    Options options;
    if (argp_parse(&parser, argc, argv, 0, nullptr, &options) != 0) {
        return 1;
    }
    std::signal(SIGTERM, end_in_order);
    require_gpu();
    Weights weights(options.layers);
    Count count;
    Output output = decode_all(options, upload(weights), &count);
    auto checksum = static_cast<unsigned long long>(output.checksum());
    if (!matches_host(options, weights, output)) {
        std::fprintf(
            stderr, "rtl-demo-decode: decoded %d tokens, checksum %016llx, differs from the host\n",
            output.steps() - 1, checksum);
        return 1;
    }
    if (!options.quiet) {
        std::printf("decoded %d tokens, checksum %016llx, matches the host\n", output.steps() - 1,
                    checksum);
        std::printf(
            "launched %llu kernels: %llu eagerly, %llu in %llu replays of a graph of %llu\n",
            count.total(), count.eager, count.total() - count.eager, count.replays, count.captured);
    }
    return 0;
}
