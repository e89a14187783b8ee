// Made by `npm run build` in sdk/ from sdk/src/kit; changes belong there.

// src/wire/json.ts
var MAX_DEPTH = 500;
var MAX_INTEGER_DIGITS = 4300;
var TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?|[[\]{}:,]/g;
function parseStrictJson(text) {
  const read2 = typeof text === "string" ? text : utf8(text);
  const value = JSON.parse(read2);
  check(read2);
  return value;
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function own(record, name) {
  return Object.hasOwn(record, name) ? record[name] : void 0;
}
function utf8(bytes3) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes3);
  } catch {
    throw new SyntaxError("The text is no UTF-8.");
  }
}
function check(text) {
  const open = [];
  let last = "";
  for (const [token, fraction, exponent] of text.matchAll(TOKEN)) {
    switch (token[0]) {
      case "{":
      case "[":
        checkDepth(open.push(token === "{" ? /* @__PURE__ */ new Set() : null));
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ":":
        takeName(open.at(-1), last);
        break;
      case ",":
      case '"':
        break;
      default:
        checkNumber(token, fraction !== void 0 || exponent !== void 0);
    }
    last = token;
  }
}
function checkDepth(depth) {
  if (depth > MAX_DEPTH) {
    throw new SyntaxError(`The text is deeper than ${MAX_DEPTH} levels.`);
  }
}
function takeName(names, token) {
  const name = JSON.parse(token);
  if (names?.has(name)) {
    throw new SyntaxError("A name stands twice in one object.");
  }
  names?.add(name);
}
function checkNumber(token, isReal) {
  if (isReal && !Number.isFinite(Number(token))) {
    throw new SyntaxError("A number is beyond all bounds.");
  }
  if (!isReal && token.replace("-", "").length > MAX_INTEGER_DIGITS) {
    throw new SyntaxError("A number has too many digits.");
  }
}

// src/kit/card-rules.ts
var MAX_TITLE = 200;
var MAX_DESCRIPTION = 2e3;
var MAX_LABEL = 80;
var MAX_ID = 64;
var MAX_COMPUTER_ID = 200;
var MAX_BUTTONS = 10;
var MAX_INPUT_BYTES = 16 * 1024;
var VARIANTS = ["primary", "secondary", "danger"];
var VISIBLE = /^(?: |[^\p{C}\p{Z}])+$/u;
function cardFaults({ title, description, assignee, elements }) {
  const faults = words("title", title, MAX_TITLE);
  if (description !== void 0 && length(description) > MAX_DESCRIPTION) {
    faults.push(`description has more than ${MAX_DESCRIPTION} characters.`);
  }
  if (assignee !== void 0) {
    faults.push(...id("assignee", assignee.computerId, MAX_COMPUTER_ID));
  }
  if (elements.length < 1 || elements.length > MAX_BUTTONS) {
    faults.push(`The card has ${elements.length} buttons; 1 to ${MAX_BUTTONS} are allowed.`);
  }
  elements.forEach((button, at) => {
    faults.push(...buttonFaults(button).map((fault2) => `buttons/${at}: ${fault2}`));
  });
  if (new Set(elements.map((button) => button.id)).size !== elements.length) {
    faults.push("Two buttons of the card have one id.");
  }
  return faults;
}
function buttonFaults({ id: name, label, variant = "secondary", input, target }) {
  const faults = [...id("id", name, MAX_ID), ...words("label", label, MAX_LABEL)];
  if (!VARIANTS.includes(variant)) {
    faults.push(`variant is none of ${VARIANTS.join(", ")}.`);
  }
  const text = written(input);
  if (text === void 0) {
    faults.push("input is no JSON.");
  } else if (new TextEncoder().encode(text).length > MAX_INPUT_BYTES) {
    faults.push(`input is larger than ${MAX_INPUT_BYTES} bytes. Send an id instead.`);
  } else if (target !== void 0 && !text.startsWith("{")) {
    faults.push("input is no object, as that of a target must be.");
  }
  return faults;
}
function written(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return void 0;
  }
}
function words(key, text, most) {
  if (typeof text !== "string" || text.trim() === "") {
    return [`${key} is missing, empty or no text.`];
  }
  return length(text) > most ? [`${key} has more than ${most} characters.`] : [];
}
function id(key, text, most) {
  return typeof text === "string" && VISIBLE.test(text) && length(text) <= most ? [] : [`${key} must be a text of 1 to ${most} visible characters.`];
}
function length(text) {
  return [...text].length;
}

// src/kit/answers.ts
var MAX_MARKDOWN = 16 * 1024;
var AnswerError = class extends Error {
  name = "AnswerError";
};
var stands = /* @__PURE__ */ new WeakMap();
function result(channels) {
  const given = typeof channels === "string" ? { content: channels } : channels;
  const { content, markdown, embedUrl } = given;
  if (typeof content !== "string" || content.trim() === "") {
    throw new AnswerError("The content of a result is empty. Say what the model is to read.");
  }
  if (markdown !== void 0 && markdown.length > MAX_MARKDOWN) {
    throw new AnswerError(`The markdown of a result has more than ${MAX_MARKDOWN} characters.`);
  }
  const fault2 = embedUrl === void 0 ? null : embedFault(embedUrl);
  if (fault2 !== null) {
    throw new AnswerError(`embedUrl ${fault2}.`);
  }
  return Response.json({ content, markdown, embedUrl });
}
function actionRequired(card, { otherwise } = {}) {
  const { title, description, assignee, buttons } = card;
  const body = {
    type: "action_required",
    title,
    description,
    assignee: assignee === void 0 ? void 0 : { computerId: assignee },
    elements: buttons.map(({ id: id2, label, variant = "secondary", input = {}, target }) => ({
      type: "button",
      id: id2,
      label,
      variant,
      input,
      target
    }))
  };
  const [fault2] = cardFaults(body);
  if (fault2 !== void 0) {
    throw new AnswerError(fault2);
  }
  const response = Response.json(body);
  if (otherwise !== void 0) {
    stands.set(response, otherwise);
  }
  return response;
}
function domainError(code, message, { status = 409, details } = {}) {
  if (code === "" || message === "") {
    throw new AnswerError("A domain error needs a code and a message.");
  }
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new AnswerError(`A domain error has a status from 400 to 599, not ${status}.`);
  }
  return Response.json({ code, error: message, details }, { status });
}
function plainText(content) {
  if (content.trim() === "") {
    throw new AnswerError("The handler returned an empty text. Say what the model is to read.");
  }
  return new Response(content, { headers: { "content-type": "text/plain; charset=utf-8" } });
}
async function withoutCard(response) {
  const card = await cardOf(response);
  if (card === null) {
    return response;
  }
  const title = String(card.title ?? "the card").replace(/\.$/, "");
  return stands.get(response) ?? domainError(
    "action_unavailable",
    `A person has to act first: ${title}. That can be asked only in a conversation.`
  );
}
async function cardOf(response) {
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || !/^application\/([^;]*\+)?json\b/i.test(type)) {
    return null;
  }
  try {
    const body = await response.clone().json();
    return isRecord(body) && body["type"] === "action_required" ? body : null;
  } catch {
    return null;
  }
}
function embedFault(address) {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return "is not absolute: build it with componentUrl()";
  }
  if (/[\s\p{Cc}]/u.test(address)) {
    return "holds blanks or control characters";
  }
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== "" || password !== "") {
    return "carries a user name";
  }
  return protocol === "http:" && !isLoopback(hostname) ? "is http, which is framed on loopback alone" : null;
}
function isLoopback(host) {
  return host === "[::1]" || /^127(\.\d+){3}$/.test(host) || /^(.*\.)?localhost$/.test(host);
}

// src/kit/context.ts
var MAX_CHARS = 4096;
var ToolContextError = class extends Error {
  name = "ToolContextError";
};
function toolContext(request) {
  const found = [...request.headers].filter(([name2]) => /.-tool-context$/i.test(name2));
  const [first, ...others] = found;
  if (first === void 0 || others.length > 0) {
    throw new ToolContextError(
      `The request has ${found.length} headers that end with -Tool-Context. Remit sends one.`
    );
  }
  const [name, text] = first;
  if (text.length > MAX_CHARS) {
    throw new ToolContextError(`The header ${name} has more than ${MAX_CHARS} characters.`);
  }
  let value;
  try {
    value = parseStrictJson(bytes(text));
  } catch {
    throw new ToolContextError(`The header ${name} is no strict JSON. Remit alone may set it.`);
  }
  const source = isRecord(value) ? own(value, "source") : void 0;
  const threadId = isRecord(value) ? own(value, "threadId") : void 0;
  if (source === "api") {
    return { source };
  }
  if (source === "thread" && typeof threadId === "string" && threadId !== "") {
    return { source, threadId };
  }
  throw new ToolContextError(
    `The header ${name} names neither a thread nor the API. Remit alone may set it.`
  );
}
function bytes(text) {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
function isThreadToolInvocation(context) {
  return context.source === "thread";
}

// src/kit/environment.ts
var SettingError = class extends Error {
  name = "SettingError";
};
function setting(name) {
  const suffix = `_APP_${name}`;
  const found = Object.entries(environment()).filter(
    ([key, value]) => key.endsWith(suffix) && key !== suffix && value
  );
  const [first, ...others] = found;
  if (first === void 0) {
    throw new SettingError(
      `No environment variable ends with ${suffix}. Remit sets it when it starts a component; elsewhere set REMIT${suffix}.`
    );
  }
  if (others.length > 0) {
    const names = found.map(([key]) => key).sort();
    throw new SettingError(
      `Several environment variables end with ${suffix}: ${names.join(", ")}. Keep the one that is meant.`
    );
  }
  return String(first[1]);
}
function componentUrl(path = "") {
  if (path !== "" && !/^\/(?!\/)/.test(path)) {
    throw new TypeError(
      `The path "${path}" does not begin with one "/". Write componentUrl("/page").`
    );
  }
  return setting("COMPONENT_URL").replace(/\/+$/, "") + path;
}
function environment() {
  const host = globalThis;
  return host.process?.env ?? {};
}

// src/kit/keys.ts
var TIMEOUT_MS = 5e3;
var MAX_BYTES = 256 * 1024;
var KEPT_MS = 3e5;
var KEPT_WHILE_UNREACHABLE_MS = 36e5;
var BETWEEN_VAIN_ASKS_MS = 3e4;
var BETWEEN_FAILURES_MS = 1e3;
var BETWEEN_FAILURES_WITH_KEYS_MS = 15e3;
var KeysUnavailable = class extends Error {
  name = "KeysUnavailable";
};
var Keys = class {
  #url;
  #clockMs;
  #jwks;
  #fetchedMs = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #noVainAskBeforeMs = Number.NEGATIVE_INFINITY;
  #fetching = null;
  /**
   * @param issuer the public URL of the Remit server.
   * @param clockMs milliseconds that only grow.
   * @throws TypeError where the issuer is no http(s) address.
   */
  constructor(issuer, clockMs = () => performance.now()) {
    if (!(/^https?:\/\//.test(issuer) && URL.canParse(issuer))) {
      throw new TypeError(`The issuer "${issuer}" is no http(s) address.`);
    }
    this.#url = `${issuer.replace(/\/+$/, "")}/.well-known/jwks.json`;
    this.#clockMs = clockMs;
  }
  /**
   * The key set, at most five minutes old while the server can be reached.
   *
   * @throws KeysUnavailable where it could not be fetched, and none is kept.
   */
  async jwks() {
    const ageMs = this.#clockMs() - this.#fetchedMs;
    if (this.#jwks !== void 0 && ageMs < KEPT_MS) {
      return this.#jwks;
    }
    const usable = this.#jwks !== void 0 && ageMs < KEPT_WHILE_UNREACHABLE_MS;
    if (usable && this.#fetching !== null) {
      return this.#jwks;
    }
    try {
      return await this.#fetched(usable ? BETWEEN_FAILURES_WITH_KEYS_MS : BETWEEN_FAILURES_MS);
    } catch (error) {
      if (usable) {
        return this.#jwks;
      }
      throw error;
    }
  }
  /**
   * Asks again, for a token whose key is not in `known`; null where there is no other key. An ask
   * that brings no new key is not repeated within 30 s.
   */
  async jwksBeyond(known2) {
    if (this.#jwks !== known2 && this.#jwks !== void 0) {
      return this.#jwks;
    }
    if (this.#fetching === null) {
      if (this.#clockMs() < this.#noVainAskBeforeMs) {
        return null;
      }
      this.#noVainAskBeforeMs = this.#clockMs() + BETWEEN_VAIN_ASKS_MS;
    }
    const found = await this.#fetched(BETWEEN_FAILURES_WITH_KEYS_MS).catch(() => null);
    const before = new Set(ids(known2));
    if (found === null || ids(found).every((id2) => before.has(id2))) {
      return null;
    }
    this.#noVainAskBeforeMs = Number.NEGATIVE_INFINITY;
    return found;
  }
  /** One request at a time, however many wait for it. */
  #fetched(afterFailureMs) {
    if (this.#fetching === null && this.#clockMs() < this.#notBeforeMs) {
      return Promise.reject(new KeysUnavailable(`${this.#url} could not be read a moment ago.`));
    }
    this.#fetching ??= this.#fetch(afterFailureMs).finally(() => {
      this.#fetching = null;
    });
    return this.#fetching;
  }
  async #fetch(afterFailureMs) {
    const startMs = this.#clockMs();
    try {
      this.#jwks = await read(this.#url);
    } catch (error) {
      this.#notBeforeMs = this.#clockMs() + afterFailureMs;
      const why = error instanceof Unreadable ? error.message : "no answer came in time";
      throw new KeysUnavailable(`${this.#url} could not be read: ${why}.`, { cause: error });
    }
    this.#fetchedMs = startMs;
    return this.#jwks;
  }
};
var Unreadable = class extends Error {
};
function ids(jwks) {
  const keys = isRecord(jwks) ? own(jwks, "keys") : void 0;
  return Array.isArray(keys) ? keys.filter(isRecord).map((key) => own(key, "kid")) : [];
}
async function read(url) {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS)
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Unreadable(`its status is ${response.status}`);
  }
  let document;
  try {
    document = parseStrictJson(await capped(response));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Unreadable("it is no strict JSON");
    }
    throw error;
  }
  if (!isRecord(document)) {
    throw new Unreadable("it is no JSON object");
  }
  return document;
}
async function capped(response) {
  const chunks = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    size += step.value.length;
    if (size > MAX_BYTES) {
      await reader?.cancel();
      throw new Unreadable(`it is larger than ${MAX_BYTES} bytes`);
    }
    chunks.push(step.value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

// src/wire/base64url.ts
var ALPHABET = /^[A-Za-z0-9_-]*$/;
function fromBase64url(text) {
  if (!ALPHABET.test(text) || text.length % 4 === 1) {
    return null;
  }
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return toBase64url(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null;
}
function toBase64url(binary) {
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// src/kit/verify.ts
var ALGORITHM = "ES256";
var LEEWAY_S = 30;
var MAX_LIFETIME_S = 300;
var MAX_TOKEN_CHARS = 8192;
var MAX_HEADER_CHARS = 512;
var TOKEN2 = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/;
var REFUSED_HEADERS = ["crit", "b64", "zip", "enc", "jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256"];
var TEXT_CLAIMS = ["iss", "sub", "tenant", "installation", "jti"];
var Refused = class extends Error {
  reason;
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
};
function refusal(reason, message) {
  return { ok: false, reason, message };
}
async function verify(token, jwks, options) {
  try {
    const { header, payload, signature, signed } = parts(token);
    checkHeader(header);
    await checkSignature(signed, signature, await findKey(jwks, own(header, "kid")));
    const claims = object(payload, "claims");
    checkNames(claims, options);
    const [issuedAtS, expiresAtS] = checkTimes(claims, options);
    return {
      ok: true,
      user: String(claims["sub"]),
      workspace: String(claims["tenant"]),
      installation: String(claims["installation"]),
      callId: String(claims["jti"]),
      issuedAtS,
      expiresAtS
    };
  } catch (error) {
    if (error instanceof Refused) {
      return refusal(error.reason, error.message);
    }
    throw error;
  }
}
function parts(token) {
  if (token.length > MAX_TOKEN_CHARS) {
    throw new Refused("malformed", `The token has more than ${MAX_TOKEN_CHARS} characters.`);
  }
  const [, head = "", body = "", tail = ""] = TOKEN2.exec(token) ?? [];
  if (head === "") {
    throw new Refused("malformed", "The token is not three parts in base64url.");
  }
  if (head.length > MAX_HEADER_CHARS) {
    throw new Refused(
      "malformed",
      `The token's header has more than ${MAX_HEADER_CHARS} characters.`
    );
  }
  const header = bytes2(head);
  const payload = bytes2(body);
  const signature = bytes2(tail);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  return { header: object(header, "header"), payload, signature, signed };
}
function bytes2(part) {
  const found = fromBase64url(part);
  if (found === null) {
    throw new Refused("malformed", "A part of the token is no base64url.");
  }
  return found;
}
function object(data, what) {
  let value;
  try {
    value = parseStrictJson(data);
  } catch {
    throw new Refused("malformed", `The token's ${what} is no strict JSON.`);
  }
  if (!isRecord(value)) {
    throw new Refused("malformed", `The token's ${what} is no JSON object.`);
  }
  return value;
}
function checkHeader(header) {
  if (own(header, "alg") !== ALGORITHM) {
    throw new Refused("wrong_algorithm", `The token is not signed with ${ALGORITHM}.`);
  }
  if (own(header, "typ") !== "JWT") {
    throw new Refused("wrong_type", "The token's typ is not JWT.");
  }
  if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) {
    throw new Refused("unsupported_header", "The token's header asks for what is not supported.");
  }
  if (Object.hasOwn(header, "cty") && typeof own(header, "cty") !== "string") {
    throw new Refused("unsupported_header", "The token's cty is no text.");
  }
}
async function findKey(jwks, kid) {
  const keys = isRecord(jwks) ? own(jwks, "keys") : void 0;
  const [key, ...others] = Array.isArray(keys) && typeof kid === "string" ? keys.filter((one) => isRecord(one) && own(one, "kid") === kid) : [];
  if (key === void 0 || others.length > 0) {
    throw new Refused("unknown_key", "The token's kid is that of no key, or of several.");
  }
  const isFor = (name, value) => !Object.hasOwn(key, name) || own(key, name) === value;
  if (own(key, "kty") !== "EC" || own(key, "crv") !== "P-256" || !isFor("alg", ALGORITHM) || !isFor("use", "sig")) {
    throw new Refused("unknown_key", `The token's kid is that of a key of no ${ALGORITHM}.`);
  }
  const [x, y] = [own(key, "x"), own(key, "y")];
  if (!isCoordinate(x) || !isCoordinate(y)) {
    throw new Refused("unknown_key", "The token's kid is that of a key that is broken.");
  }
  try {
    const point = { kty: "EC", crv: "P-256", x, y };
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    return await crypto.subtle.importKey("jwk", point, algorithm, false, ["verify"]);
  } catch {
    throw new Refused("unknown_key", "The token's kid is that of a key that is broken.");
  }
}
function isCoordinate(value) {
  return typeof value === "string" && fromBase64url(value)?.length === 32;
}
async function checkSignature(signed, signature, key) {
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const fits = signature.length === 64 && await crypto.subtle.verify(algorithm, key, signature, signed).catch(() => false);
  if (!fits) {
    throw new Refused("bad_signature", "The token's signature does not fit its key.");
  }
}
function checkNames(claims, { audience, issuer }) {
  for (const name of TEXT_CLAIMS) {
    const value = own(claims, name);
    if (typeof value !== "string" || value === "") {
      throw new Refused("bad_claims", `The token's ${name} is missing or no text.`);
    }
  }
  if (own(claims, "iss") !== issuer) {
    throw new Refused("wrong_issuer", "The token was issued by another server.");
  }
  const found = own(claims, "aud");
  const audiences = Array.isArray(found) ? found : [found];
  if (audiences.length === 0 || !audiences.every((one) => typeof one === "string")) {
    throw new Refused("bad_claims", "The token's aud is missing or no text.");
  }
  if (!audiences.includes(audience)) {
    throw new Refused("wrong_audience", "The token was made for somebody else.");
  }
}
function checkTimes(claims, { nowS, maxLifetimeS = MAX_LIFETIME_S }) {
  const issued = time(claims, "iat");
  const expires = time(claims, "exp");
  if (expires - issued > maxLifetimeS) {
    throw new Refused("lives_too_long", `The token lives for more than ${maxLifetimeS} s.`);
  }
  if (expires <= nowS - LEEWAY_S) {
    throw new Refused("expired", "The token has expired.");
  }
  const starts = Object.hasOwn(claims, "nbf") ? Math.max(issued, time(claims, "nbf")) : issued;
  if (starts > nowS + LEEWAY_S) {
    throw new Refused("not_yet_valid", "The token is not valid yet: it comes from the future.");
  }
  if (expires <= issued) {
    throw new Refused("bad_claims", "The token expires before it was issued.");
  }
  return [issued, expires];
}
function time(claims, name) {
  const value = own(claims, name);
  if (typeof value !== "number") {
    throw new Refused("bad_claims", `The token's ${name} is missing or no number.`);
  }
  return value;
}

// src/kit/identity.ts
var known = /* @__PURE__ */ new Map();
async function identity(request, options = {}) {
  const issuer = options.issuer ?? setting("ISSUER");
  const audience = options.audience ?? setting("AUDIENCE");
  const given = request.headers.get("authorization");
  if (given === null) {
    return refusal("missing", "The request has no Authorization header.");
  }
  const token = /^bearer +(\S.*)$/i.exec(given)?.[1];
  if (token === void 0) {
    return refusal("malformed", "Authorization is not one Bearer token.");
  }
  const expected = { issuer, audience, nowS: options.nowS ?? Date.now() / 1e3 };
  const keys = options.keys ?? keysOf(issuer);
  if (!(keys instanceof Keys)) {
    return verify(token, keys, expected);
  }
  const jwks = await keys.jwks();
  const found = await verify(token, jwks, expected);
  const isKnown = found.ok || found.reason !== "unknown_key";
  const newer = isKnown ? null : await keys.jwksBeyond(jwks);
  return newer === null ? found : verify(token, newer, expected);
}
function keysOf(issuer) {
  const found = known.get(issuer) ?? new Keys(issuer);
  known.set(issuer, found);
  return found;
}

// src/wire/schema.ts
function namesOf({ path = [] }) {
  return path.map((part) => String(typeof part === "object" ? part.key : part));
}

// src/kit/input.ts
var MAX_BODY_BYTES = 1024 * 1024;
var MAX_FAULTS = 20;
var WHOLE = /^\$\{\s*input\s*\}$/;
var ONE_REFERENCE = /^\$\{\s*input\.([\w-]+(?:\.[\w-]+)*)\s*\}$/;
var NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
var BodyError = class extends Error {
  name = "BodyError";
};
async function readInput(request, target, schema) {
  const body = target.body === void 0 ? void 0 : await json(request);
  const isWhole = typeof target.body === "string" && WHOLE.test(target.body);
  const found = isWhole ? { input: body, texts: /* @__PURE__ */ new Map() } : rebuilt(target, body, new URL(request.url).searchParams);
  return "~standard" in schema ? validated(found, schema) : { ok: true, value: plain(found.input) };
}
function plain(input) {
  if (!isRecord(input)) {
    throw new BodyError("The body is no JSON object.");
  }
  return input;
}
async function json(request) {
  const bytes3 = await request.arrayBuffer();
  if (bytes3.byteLength > MAX_BODY_BYTES) {
    throw new BodyError(`The body has more than ${MAX_BODY_BYTES} bytes.`);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes3));
  } catch {
    throw new BodyError("The body is no JSON.");
  }
}
function rebuilt(target, body, query) {
  const input = {};
  const texts = /* @__PURE__ */ new Map();
  collect(target.body, body, input);
  for (const [name, template] of Object.entries(target.query ?? {})) {
    const path = ONE_REFERENCE.exec(template)?.[1];
    const values = query.getAll(name);
    const [first] = values;
    if (path !== void 0 && first !== void 0) {
      const value = values.length === 1 ? first : values;
      put(input, path, value);
      texts.set(path, value);
    }
  }
  return { input, texts };
}
function collect(template, value, input) {
  if (typeof template === "string") {
    const path = ONE_REFERENCE.exec(template)?.[1];
    if (path !== void 0 && value !== void 0) {
      put(input, path, value);
    } else if (WHOLE.test(template) && isRecord(value)) {
      Object.assign(input, value);
    }
  } else if (Array.isArray(template) && Array.isArray(value)) {
    template.forEach((part, at) => {
      collect(part, value[at], input);
    });
  } else if (isRecord(template) && isRecord(value)) {
    for (const [name, part] of Object.entries(template)) {
      collect(part, value[name], input);
    }
  }
}
function put(input, path, value) {
  const names = path.split(".");
  if (names.some((name) => /^\d+$/.test(name) || name === "__proto__")) {
    return;
  }
  const last = names.pop();
  let inner = input;
  for (const name of names) {
    const next = isRecord(inner[name]) ? { ...inner[name] } : {};
    inner[name] = next;
    inner = next;
  }
  inner[last] = value;
}
async function validated({ input, texts }, schema) {
  let best = input;
  let last = await schema["~standard"].validate(input);
  for (const read2 of [spelled, listed, (value) => listed(value).map(spelled)]) {
    const wrong = [...texts].filter(([path]) => isAt(last.issues, path));
    const changed = structuredClone(best);
    if (wrong.length === 0 || !isRecord(changed)) {
      break;
    }
    for (const [path, value] of wrong) {
      put(changed, path, read2(value));
    }
    const next = await schema["~standard"].validate(changed);
    if ((next.issues?.length ?? 0) < (last.issues?.length ?? 0)) {
      best = changed;
      last = next;
    }
  }
  return last.issues === void 0 ? { ok: true, value: last.value } : { ok: false, faults: last.issues.slice(0, MAX_FAULTS).map(fault) };
}
function spelled(value) {
  if (typeof value !== "string") {
    return value.map(spelled);
  }
  return value === "true" || value === "false" || NUMBER.test(value) ? JSON.parse(value) : value;
}
function listed(value) {
  return typeof value === "string" ? [value] : value;
}
function isAt(issues, path) {
  return issues?.some((issue) => `${namesOf(issue).join(".")}.`.startsWith(`${path}.`)) ?? false;
}
function fault(issue) {
  const escaped = namesOf(issue).map(
    (name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
  );
  return { pointer: escaped.join(""), message: issue.message };
}

// src/kit/route.ts
function route(tool, run, options = {}) {
  const { target } = tool;
  const { log = console.warn } = options;
  const serve = async (request) => {
    if (request.method === "OPTIONS") {
      return allowed([target.method]);
    }
    if (request.method !== target.method) {
      return methodNotAllowed([target.method]);
    }
    try {
      const who = await identity(request, options);
      if (!who.ok) {
        return unauthorized(who, log);
      }
      const call = { identity: who, context: toolContext(request), request };
      const input = await readInput(request, target, tool.input);
      return input.ok ? await answered(run, input.value, call) : unfit(input.faults);
    } catch (error) {
      return unread(error, log);
    }
  };
  return Object.assign(serve, { target });
}
function allowed(methods) {
  return new Response(null, { status: 204, headers: { allow: allow(methods) } });
}
function methodNotAllowed(methods) {
  const response = domainError("method_not_allowed", `This route takes ${methods.join(", ")}.`, {
    status: 405
  });
  response.headers.set("allow", allow(methods));
  return response;
}
function allow(methods) {
  return [...methods, "OPTIONS"].join(", ");
}
async function answered(run, input, call) {
  const answer = await ran(run, input, call);
  if (answer instanceof Response) {
    return isThreadToolInvocation(call.context) ? answer : withoutCard(answer);
  }
  return typeof answer === "string" ? plainText(answer) : result(answer);
}
async function ran(run, input, call) {
  try {
    return await run(input, call);
  } catch (thrown) {
    if (thrown instanceof Response) {
      return thrown;
    }
    throw thrown;
  }
}
function unauthorized({ reason, message }, log) {
  log(`Identity refused: ${reason}: ${message}`);
  const response = domainError("identity_refused", "The identity token was not accepted.", {
    status: 401
  });
  response.headers.set("www-authenticate", "Bearer");
  return response;
}
function unfit(faults) {
  const words2 = faults.map(({ pointer, message }) => `${pointer || "input"}: ${message}`);
  return domainError("invalid_arguments", `The input does not fit. ${words2.join("; ")}.`, {
    status: 422,
    details: { faults }
  });
}
function unread(error, log) {
  if (error instanceof KeysUnavailable) {
    log(`No identity could be verified: ${error.message}`);
    return domainError("keys_unavailable", "The identity cannot be verified now. Try later.", {
      status: 503
    });
  }
  if (error instanceof ToolContextError) {
    return domainError("invalid_tool_context", error.message, { status: 400 });
  }
  if (error instanceof BodyError) {
    return domainError("invalid_body", error.message, { status: 400 });
  }
  throw error;
}

// src/kit/handler.ts
function handler(options) {
  const { basePath = "", otherwise = notFound } = options;
  const table = tableOf([...toolRoutes(options), ...options.routes ?? []], basePath);
  return async (request) => {
    const routes = table.get(new URL(request.url).pathname);
    if (routes === void 0) {
      return otherwise(request);
    }
    if (request.method === "OPTIONS") {
      return allowed([...routes.keys()]);
    }
    return routes.get(request.method)?.(request) ?? methodNotAllowed([...routes.keys()]);
  };
}
function toolRoutes(options) {
  const { tools, component, ...settings } = options;
  const handlers = new Map(Object.entries(options.handlers));
  const routes = tools.flatMap(({ name, input, target }) => {
    if (!isOfApp(target) || component !== void 0 && target.component !== component) {
      return [];
    }
    const run = handlers.get(name);
    if (run === void 0) {
      throw new TypeError(`The tool "${name}" has no handler. Add it to handlers.`);
    }
    handlers.delete(name);
    return [route({ input, target }, run, settings)];
  });
  const [other] = handlers.keys();
  if (other !== void 0) {
    throw new TypeError(`The handler "${other}" is that of no tool of this component. Remove it.`);
  }
  return routes;
}
function isOfApp(target) {
  return target.type === "app";
}
function tableOf(routes, basePath) {
  const table = /* @__PURE__ */ new Map();
  for (const one of routes) {
    const { method, path } = one.target;
    const written2 = new URL(`http://localhost${basePath}${path}`).pathname;
    const methods = table.get(written2) ?? /* @__PURE__ */ new Map();
    if (methods.has(method)) {
      throw new TypeError(`Two routes share ${method} ${path}. Give each a path of its own.`);
    }
    table.set(written2, methods.set(method, one));
  }
  return table;
}
function notFound() {
  return domainError("not_found", "There is no such route.", { status: 404 });
}

// src/kit/node.ts
var MAX_BODY_BYTES2 = 1024 * 1024;
function nodeListener(handler2, log = console.error) {
  return async (incoming, outgoing) => {
    let response;
    try {
      const request = await webRequest(incoming);
      response = request instanceof Request ? await handler2(request) : plain2(...request);
    } catch (error) {
      log(error);
      response = plain2("internal_error", 500);
    }
    outgoing.writeHead(response.status, headersOf(response));
    outgoing.end(new Uint8Array(await response.arrayBuffer()));
  };
}
async function webRequest(incoming) {
  const headers = new Headers();
  const { rawHeaders, method = "GET", url = "/" } = incoming;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(String(rawHeaders[at]), String(rawHeaders[at + 1]));
  }
  const address = `http://${headers.get("host") ?? "localhost"}${url}`;
  if (!url.startsWith("/") || !URL.canParse(address)) {
    return ["bad_request", 400];
  }
  const body = await bodyOf(incoming);
  if (body === null) {
    return ["too_large", 413];
  }
  const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD";
  return new Request(address, { method, headers, body: hasBody ? body : null });
}
async function bodyOf(incoming) {
  const chunks = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES2) {
      return null;
    }
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
function headersOf(response) {
  const headers = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  return cookies.length > 0 ? { ...headers, "set-cookie": cookies } : headers;
}
function plain2(code, status) {
  return Response.json({ code, error: "The request could not be served." }, { status });
}
export {
  AnswerError,
  Keys,
  KeysUnavailable,
  SettingError,
  ToolContextError,
  actionRequired,
  componentUrl,
  domainError,
  handler,
  identity,
  isThreadToolInvocation,
  nodeListener,
  result,
  route,
  toolContext,
  verify
};
