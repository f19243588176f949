#include "sim/async/instruction.h"

#include <utility>

namespace tcq::machine {

Statement::Statement(Instruction made, Guard by, Where at)
    : what(std::move(made)), guard(by), where(at) {}
Statement::Statement(const Statement&) = default;
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(const Statement&) = default;
Statement& Statement::operator=(Statement&&) noexcept = default;
Statement::~Statement() = default;

}  // namespace tcq::machine
