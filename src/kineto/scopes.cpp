#include "kineto/scopes.h"

#include "kineto/session.h"

#include <atomic>

namespace
{

// Ids of our own, for annotations within operations: PyTorch counts from 1.
constexpr uint64_t first_made = UINT64_C(1) << 62U;

// What is open in the thread, in the session of this number.
thread_local struct {
    uint64_t session = 0;
    std::vector<uint64_t> operations, annotations;
} open;

void open_for(uint64_t session)
{
    if (open.session != session) {
        open.session = session;
        open.operations.clear();
        open.annotations.clear();
    }
}

} // namespace

namespace pu1
{

Scopes::Scopes()
    : session_([] {
          static std::atomic<uint64_t> number{0};
          return ++number;
      }())
{
}

void Scopes::note(uint64_t external, uint64_t owner, uint64_t annotation)
{
    std::lock_guard<std::mutex> guard(lock_);
    facts_[external] = {owner, annotation};
}

void Scopes::push_operation(uint64_t id)
{
    open_for(session_);
    open.operations.push_back(id);
    if (!open.annotations.empty()) {
        note(id, id, open.annotations.back());
    }
    pu1_session_push(id);
}

void Scopes::pop_operation()
{
    open_for(session_);
    if (!open.operations.empty()) {
        open.operations.pop_back();
    }
    pu1_session_pop();
}

// Within an operation work is the operation's, and has to be told from work of it that is in no
// annotation: by an id of our own.
void Scopes::push_annotation(uint64_t id)
{
    open_for(session_);
    uint64_t external = id;
    {
        std::lock_guard<std::mutex> guard(lock_);
        if (!open.operations.empty()) {
            external = first_made + made_++;
        }
        facts_[external] = {open.operations.empty() ? id : open.operations.back(), id};
        if (!open.annotations.empty()) {
            parents_[id] = open.annotations.back();
        }
    }
    open.annotations.push_back(id);
    pu1_session_push(external);
}

void Scopes::pop_annotation()
{
    open_for(session_);
    if (!open.annotations.empty()) {
        open.annotations.pop_back();
        pu1_session_pop();
    }
}

uint64_t Scopes::owner(uint64_t external) const
{
    auto at = facts_.find(external);
    return at != facts_.end() ? at->second.owner : external;
}

std::vector<uint64_t> Scopes::annotations(uint64_t external) const
{
    std::vector<uint64_t> around;
    auto at = facts_.find(external);
    uint64_t id = at != facts_.end() ? at->second.annotation : 0;
    // Ids of annotations are pushed once; a host that pushes one within itself ends here.
    while (id != 0 && around.size() <= parents_.size()) {
        around.push_back(id);
        auto parent = parents_.find(id);
        id = parent != parents_.end() ? parent->second : 0;
    }
    return around;
}

} // namespace pu1
