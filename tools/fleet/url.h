/**
 * Where a ClickHouse is: http://[user[:password]@]host:port[/database].
 */
#ifndef RTL_TOOLS_FLEET_URL_H
#define RTL_TOOLS_FLEET_URL_H

struct url {
    char base[420];  /**< "http://host:port/" */
    char shown[560]; /**< "http://host:port/database": what sentences have, without user and
                        password */
    char user[128], password[256], database[128];
};

/** Takes a URL apart; %XX stands for a byte. Without a password there it is that of the environment
 * (RTL_CLICKHOUSE_PASSWORD, or the first line of the file that RTL_CLICKHOUSE_PASSWORD_FILE names).
 * EXIT_FINE, or EXIT_USAGE when a sentence has been said, which has no password in it. */
int url_read(const char *text, struct url *url);

#endif
