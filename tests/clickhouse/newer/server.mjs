// server.mjs FOLDER: ClickHouse's newest engine behind the part of its HTTP interface that RTL speaks. The engine is a
// library (chdb, which npm brings), so this is no server: it writes one line, its port on loopback, and ends when its
// input does.
//
// Each request has a connection of its own over the data below FOLDER, so that settings and the database are the
// request's. The engine checks settings, runs queries, reads Native blocks and writes answers and exceptions. Imitated,
// since a library has none:
// - system.processes has the requests that are being answered, and two of one id are refused. RTL's lock asks for that.
// - A connection that breaks within a request: nothing of it is done.
// - The user "reader" has a profile with readonly 1. There are no other users, and no passwords.
// There is no cluster, and no insertion that is asynchronous: those are refused.
import { createRequire } from "node:module";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import process from "node:process";

const folder = path.resolve(process.argv[2]);
// npm has put the packages where the test works, not beside this file.
const { Session } = createRequire(path.join(process.cwd(), "package.json"))("chdb");
const data = path.join(folder, "data");
const first = new Session(data); // as long as one is open the others are opened at once
const version = String(first.query("SELECT version()", "TabSeparated")).trim();
const running = new Map();
let files = 0;

class Refused extends Error {
  constructor(code, text, name) {
    super(`Code: ${code}. DB::Exception: ${text} (${name})`);
  }
}

function quoted(text) {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

// What stands in a query for system.processes.
function processes() {
  const rows = [...running].map(([id, query]) => `, (${quoted(id)}, ${quoted(id)}, ${quoted(query)})`);
  return `(SELECT * FROM values('query_id String, initial_query_id String, query String', ('', '', '')${rows.join("")})
    WHERE query_id != '')`;
}

// Zstandard's frames out of ClickHouse's: 16 bytes of a hash, the method, the size with these 9 bytes, the size without
// compression.
function zstdFrames(body) {
  const frames = [];
  for (let at = 0; at < body.length;) {
    if (body.length < at + 25 || body[at + 16] !== 0x90)
      throw new Refused(271, "Cannot decompress: a frame that is none of Zstandard's", "CANNOT_DECOMPRESS");
    const end = at + 16 + body.readUInt32LE(at + 17);
    if (end > body.length) throw new Refused(33, "Cannot read all data", "CANNOT_READ_ALL_DATA");
    frames.push(body.subarray(at + 25, end));
    at = end;
  }
  return Buffer.concat(frames);
}

// The data of an INSERT go into a file, from which the engine reads them.
function withFile(query, body, compressed, file) {
  fs.writeFileSync(file, compressed ? zstdFrames(body) : body);
  const format = query.match(/FORMAT\s+(\w+)\s*$/)[1];
  const head = query.slice(0, query.lastIndexOf("FORMAT"));
  return `${head} FROM INFILE ${quoted(file)} COMPRESSION '${compressed ? "zstd" : "none"}' FORMAT ${format}`;
}

const OF_HTTP = ["database", "query", "query_id", "decompress", "wait_end_of_query"];

function prepare(session, parameters, user) {
  const database = parameters.get("database") || "default";
  session.query(`USE \`${database}\``);
  if (user === "reader") session.query("SET readonly = 1");
  const settings = [...parameters].filter(([name]) => !OF_HTTP.includes(name));
  if (settings.length) session.query(`SET ${settings.map(([name, value]) => `${name} = ${quoted(value)}`).join(", ")}`);
}

// A server of 26.2 gathers insertions of many clients into one part unless it is told not to. A block must be one.
function refuseAsync(session) {
  if (!/^false/.test(session.query("SELECT getSetting('async_insert')", "TabSeparated")))
    throw new Refused(48, "An insertion that is gathered with others", "NOT_IMPLEMENTED");
}

async function execute(request, parameters, body) {
  const given = parameters.get("query") ?? "";
  const isInsert = /^\s*INSERT\b[^]*\bFORMAT\s+\w+\s*$/.test(given);
  const file = path.join(folder, `body${++files}`);
  const session = new Session(data);
  try {
    prepare(session, parameters, request.headers["x-clickhouse-user"]);
    if (/^\s*INSERT\b[^]*\b(FORMAT|VALUES)\b/.test(given + body.subarray(0, 200).toString())) refuseAsync(session);
    const query = isInsert ? withFile(given, body, parameters.get("decompress") === "1", file)
                           : (given + body.toString()).replaceAll("system.processes", processes);
    return (await session.queryAsync(query, { format: "TabSeparated" })).bytes();
  } finally {
    session.close();
    if (isInsert) fs.rmSync(file, { force: true });
  }
}

function refuse(answer, error) {
  const found = String(error.message).match(/Code: (\d+)\. [^]*/);
  const text = found ? found[0].trimEnd() : `Code: 1002. DB::Exception: ${error.stack} (UNKNOWN_EXCEPTION)`;
  answer.writeHead(500, { "X-ClickHouse-Exception-Code": found?.[1] ?? "1002" });
  answer.end(`${text} (version ${version} (official build))\n`);
}

async function serve(request, answer) {
  const parameters = new URL(request.url, "http://localhost").searchParams;
  const id = parameters.get("query_id") || `${Math.random()}`;
  if (running.has(id)) {
    request.resume();
    return refuse(answer, new Refused(216, `Query with id = ${id} is already running`,
                                      "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING"));
  }
  running.set(id, parameters.get("query") ?? "");
  try {
    const parts = [];
    for await (const part of request) parts.push(part);
    const bytes = await execute(request, parameters, Buffer.concat(parts));
    answer.writeHead(200, { "X-ClickHouse-Server-Display-Name": "chdb" });
    answer.end(bytes);
  } catch (error) {
    refuse(answer, error);
  } finally {
    running.delete(id);
  }
}

const server = http.createServer(serve);
server.requestTimeout = 0; // a lock lasts as long as its load
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
