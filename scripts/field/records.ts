// Answers of nodes as records of a corpus, without what is nobody else's business. Pure but for hashing.
import { createHash } from 'node:crypto'

/** One answer of a node to one question. */
export type Answer = {
  /** Folder in the corpus: a family, or `errors`. */
  readonly folder: string
  /** A method of JSON-RPC, or a path. */
  readonly method: string
  readonly text: string
  readonly status: number
}

export type Exchange = {
  readonly family: string
  readonly path: string
  readonly requestBody: string
  readonly status: number
  readonly body: string
}

/** A part of a URL that is shorter names something public, such as a network or a version. */
const secretLengthMin = 8
const scrubbed = 'scrubbed'

/** Takes out of texts what tells who asked: parts of these endpoints, keys, URLs and addresses of machines. */
export function createScrubber(args: {
  readonly endpoints: readonly string[]
  readonly secrets: readonly string[]
}): (text: string) => string {
  const parts = args.endpoints.flatMap(secretsIn)
  const bare = args.secrets.flatMap((secret) => [secret, secret.replace(/^0x/, '')])
  // The longest first: one may be a part of another.
  const secrets = [...new Set([...bare, ...parts])]
    .filter((secret) => secret.length >= secretLengthMin)
    .sort((one, other) => other.length - one.length)
  return (text) =>
    secrets
      .reduce((left, secret) => replaceAnyCase(left, secret), text)
      .replace(/\b(?:https?|wss?):\/\/[^\s"'<>\\]+/gi, 'https://scrubbed.example')
      .replace(/(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g, '192.0.2.1')
      .replace(/(?<![0-9a-f:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{0,4}(?![0-9a-f:])/gi, '2001:db8::1')
}

function replaceAnyCase(text: string, secret: string): string {
  return text.replace(new RegExp(secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'), scrubbed)
}

/** Every part of an endpoint that may be a key. Some providers have one in the name of the host. */
function secretsIn(endpoint: string): readonly string[] {
  const { hostname, username, password, pathname, searchParams } = new URL(endpoint)
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()]
  return [...parts, ...parts.map(decoded), hostname]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Provider for `SOURCES.md`: the last two labels of the host. */
function providerOf(endpoint: string): string {
  const { hostname } = new URL(endpoint)
  return /^[\d.]+$|^\[|^localhost$/.test(hostname) ? 'this machine' : hostname.split('.').slice(-2).join('.')
}

/** The answers of one exchange, each by itself. A refusal goes to `errors`, with the status that it came with. */
export function answersIn({ family, path, requestBody, status, body }: Exchange): readonly Answer[] {
  const asked = parsed(requestBody)
  const methods = new Map(membersOf(asked).map((call) => [Object(call)['id'], Object(call)['method']]))
  const [first] = methods.values()
  const named = typeof first === 'string' ? first : path
  const answered = parsed(body)
  const error = (method: string, text: string): Answer => ({ folder: 'errors', method, text, status })
  if (status < 200 || status > 299 || answered === undefined) return [error(named, body)]
  if (isRefusal(answered)) return [error(named, body)]
  // A list that answers one question is an answer, and no batch.
  if (!Array.isArray(answered) || !Array.isArray(asked))
    return [{ folder: family, method: named, text: body, status }]
  return answered.map((member) => {
    const method = String(methods.get(Object(member)['id']) ?? named)
    const text = JSON.stringify(member)
    return isRefusal(member) ? error(method, text) : { folder: family, method, text, status }
  })
}

function isRefusal(answer: unknown): boolean {
  const { error } = Object(answer)
  return error !== undefined && error !== null
}

export type FieldRecord = {
  /** Below the folder of all records. */
  readonly file: string
  readonly text: string
  /** Its line of the folder's `SOURCES.md`. */
  readonly source: string
}

/** Most records of one method at one endpoint; of refusals, of one method and code. */
const recordsMax = 12
const recordBytesMax = 2_000_000

/** Decides which answers are kept: some of each kind, none twice, none that is too long. */
export function createRecorder(scrub: (text: string) => string) {
  const hashes = new Set<string>()
  const counts = new Map<string, number>()
  return (
    answer: Answer,
    place: { readonly chain: string; readonly endpoint: string },
  ): FieldRecord | undefined => {
    const { folder, method, status } = answer
    const isError = folder === 'errors'
    const code = isError ? Object(Object(parsed(answer.text))['error'])['code'] : ''
    const kind = [folder, place.endpoint, method, status, code].join(' ')
    const count = counts.get(kind) ?? 0
    if (count >= recordsMax || Buffer.byteLength(answer.text) > recordBytesMax) return undefined
    const text = scrub(answer.text)
    const hash = createHash('sha256').update(folder).update(withoutId(text)).digest('hex').slice(0, 8)
    if (hashes.has(hash)) return undefined
    hashes.add(hash)
    counts.set(kind, count + 1)
    const words = [wordOf(method), wordOf(place.chain), hash, ...(isError ? [`s${status}`] : [])]
    const name = `${words.join('-')}.${parsed(text) === undefined ? 'txt' : 'json'}`
    const about = `${method} [${place.chain}], HTTP status ${status}`
    return {
      file: `${folder}/${name}`,
      text,
      source: `| ${name} | ${scrub(about)} | recorded from ${providerOf(place.endpoint)} | own recording |`,
    }
  }
}

export const sourcesHead = [
  'Recorded by `npm run field`, and scrubbed.',
  '',
  '| file | what it is | source | licence |',
  '|---|---|---|---|',
].join('\n')

const wordOf = (text: string) =>
  text
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40)

/** Two answers that differ in nothing but the number of the question are one. */
function withoutId(text: string): string {
  const answer = parsed(text)
  if (!Object.hasOwn(Object(answer), 'jsonrpc')) return text
  return JSON.stringify({ ...Object(answer), id: 0 })
}

const membersOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
