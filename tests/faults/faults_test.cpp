#include "../common/check.h"

RTL_C_TEST(Writer, Memory)
RTL_C_TEST(Writer, Files)
RTL_C_TEST(Writer, Sqlite)
RTL_C_TEST(Writer, FileThatIsRemoved)
RTL_C_TEST(Writer, FileThatStaysLocked)

RTL_C_TEST(Reader, Memory)
RTL_C_TEST(Reader, Files)
RTL_C_TEST(Reader, Sqlite)

RTL_C_TEST(Sql, Memory)
RTL_C_TEST(Sql, Files)
RTL_C_TEST(Sql, Sqlite)

RTL_C_TEST(Collector, Memory)
RTL_C_TEST(Collector, Files)
RTL_C_TEST(Collector, Sqlite)
RTL_C_TEST(Collector, RingsThatCannotBeRead)
