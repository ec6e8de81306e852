/**
 * The scopes of a profile: operations and user annotations, which Kineto pushes and pops. There is
 * one stack of ids at a vendor, on which the innermost of both is; what is asked of it later is the
 * operation, and the annotations around it.
 */
#ifndef RTL_KINETO_SCOPES_H
#define RTL_KINETO_SCOPES_H

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pu1
{

class Scopes
{
  public:
    Scopes();

    /** In the threads whose scopes they are. What earlier sessions have left open is none here. */
    void push_operation(uint64_t id);
    void pop_operation();
    void push_annotation(uint64_t id);
    void pop_annotation();

    /** What work with this external id belongs to: the operation around it, or the annotation where
     * there is no operation; 0: nothing. After the last push. */
    uint64_t owner(uint64_t external) const;

    /** The annotations around work with this external id, the innermost first. After the last
     * push. */
    std::vector<uint64_t> annotations(uint64_t external) const;

  private:
    struct Facts {
        uint64_t owner, annotation; // the innermost one
    };

    void note(uint64_t external, uint64_t owner, uint64_t annotation);

    const uint64_t session_; // no other one has its number
    std::mutex lock_;
    std::unordered_map<uint64_t, Facts> facts_;      // of external ids within annotations
    std::unordered_map<uint64_t, uint64_t> parents_; // of annotations within others
    uint64_t made_ = 0;                              // ids that are ours
};

} // namespace pu1

#endif
