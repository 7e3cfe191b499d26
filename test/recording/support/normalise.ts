// Values that differ from run to run are replaced by names: `<id 1>` is the first 32-byte value of an exchange that the
// recording does not know. Any other difference is reported.

export type Vocabulary = {
  /** Hex that is the same in every run, in lower case. */
  readonly literals: ReadonlySet<string>
  /** Scenario's name for a value of this run, by the value in lower case. */
  readonly names: ReadonlyMap<string, string>
  /** Unix milliseconds of the answer. */
  readonly nowMs: number
  /** Ids, hashes and signatures are the same in every run. */
  readonly isExact?: boolean
  /** Members of this exchange that nobody relies on. */
  readonly volatile?: readonly string[]
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** Times of the future are told to this accuracy: the answer's own time lies somewhere in its request. */
const roundingMs = 30_000

const shapes: readonly (readonly [RegExp, string])[] = [
  [/^0x[0-9a-f]{130}$/i, 'signature'],
  [/^0x[0-9a-f]{64}$/i, 'id'],
  [/^0x[0-9a-f]{40}$/i, 'address'],
  [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, 'uuid'],
  [/^[0-9]{60,78}$/, 'number'],
]
/** Members whose text is another one in every run, by their name. */
const textMembers: Readonly<Record<string, string>> = {
  apiKey: 'api key',
  continuation: 'cursor',
  handle: 'handle',
  nonce: 'nonce',
  secret: 'secret',
}
const blockMember = /^block(?:Number|Hash)?$/
/** Which of the logs of its block a deposit is: users deposit at the same moment. */
const placeMember = 'onchainIndex'
const timeMember = /(?:at|time|timestamp|deadline|expiry|before|after|until|day)$/i
const isoTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
const endpoint = /127\.0\.0\.1:\d+/g
/** In the words of a timeline: where chains were read, and what their networks took then. */
const readAtBlock = /(?<=read at block )\d+/g
const networkFee = /^\d+(?= (?:wei per gas|micro-lamports per compute unit)$)/
const calldata = /^0x(?:[0-9a-f]{2}){68,}$/i

/** One exchange with placeholders; equal values have equal ones. Members keep their order. */
export function normalise(value: unknown, vocabulary: Vocabulary): unknown {
  const found = new Map<string, string>()
  const counts = new Map<string, number>()
  visitTexts(value, (text, member) => {
    const kind = kindOf(text, member, vocabulary)
    if (kind === undefined || found.has(text.toLowerCase())) return
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    found.set(text.toLowerCase(), `<${kind} ${count}>`)
  })
  const named = [...vocabulary.names].map(([text, name]) => [text, `<${name}>`] as const)
  // Longer ones first: a signature may hold what also stands alone.
  const replacements = [...named, ...found].sort(([one], [other]) => other.length - one.length)
  return rewrite(value, '', (leaf, member) => {
    if (vocabulary.volatile?.includes(member) === true) return '<varies>'
    if (blockMember.test(member)) return '<block>'
    if (member === placeMember) return '<place>'
    const time = timeOf(leaf, member, vocabulary.nowMs)
    if (time !== undefined) return time
    return typeof leaf === 'string' ? replaceAll(leaf, replacements, vocabulary.nowMs) : leaf
  })
}

function kindOf(text: string, member: string, vocabulary: Vocabulary): string | undefined {
  const { literals, names, isExact = false } = vocabulary
  if (isExact) return undefined
  const lower = text.toLowerCase()
  if (literals.has(lower) || names.has(lower) || /^0x0*$/.test(lower)) return undefined
  const shape = shapes.find(([pattern]) => pattern.test(text))
  if (shape !== undefined) return shape[1]
  return Object.hasOwn(textMembers, member) && text.length > 3 ? textMembers[member] : undefined
}

function replaceAll(
  text: string,
  replacements: readonly (readonly [string, string])[],
  nowMs: number,
): string {
  const timed = calldata.test(text) ? withoutTimes(text, nowMs) : text
  const ofTimes = timed
    .replace(endpoint, '<endpoint>')
    .replace(readAtBlock, '<block>')
    .replace(networkFee, '<fee>')
    .replace(isoTime, (iso) => relativeTime(Date.parse(iso), nowMs))
  return replacements.reduce((rest, [value, name]) => {
    if (rest.toLowerCase() === value) return name
    // Inside calldata a value stands without its prefix.
    const inner = value.startsWith('0x') ? value.slice(2) : value
    const pattern = new RegExp(`(?:0x)?${inner.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}`, 'gi')
    return inner.length < 8 ? rest : rest.replace(pattern, name)
  }, ofTimes)
}

/** Words of calldata that are moments of today, wherever they lie: calls hold calls. */
function withoutTimes(data: string, nowMs: number): string {
  return data.replace(/(?<=0{56})[67][0-9a-f]{7}/gi, (seconds) => {
    const ms = Number(`0x${seconds}`) * 1_000
    return Math.abs(ms - nowMs) < 2 * dayMs ? relativeTime(ms, nowMs) : seconds
  })
}

function timeOf(leaf: unknown, member: string, nowMs: number): string | undefined {
  if (!timeMember.test(member)) return undefined
  if (typeof leaf !== 'number' && !(typeof leaf === 'string' && /^[0-9]{10,13}$/.test(leaf))) return undefined
  const value = Number(leaf)
  const ms = value < 1e11 ? value * 1_000 : value
  return Math.abs(ms - nowMs) < 40 * dayMs ? relativeTime(ms, nowMs) : undefined
}

function relativeTime(ms: number, nowMs: number): string {
  const ahead = Math.round((ms - nowMs) / roundingMs) * roundingMs
  if (ahead <= 0) return ms - nowMs < -10 * minuteMs ? '<long ago>' : '<now>'
  return `<in ${ahead / 1_000} s>`
}

function visitTexts(value: unknown, visit: (text: string, member: string) => void): void {
  rewrite(value, '', (leaf, member) => {
    if (typeof leaf === 'string') visit(leaf, member)
    return leaf
  })
}

function rewrite(
  value: unknown,
  member: string,
  leafOf: (leaf: unknown, member: string) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, member, leafOf))
  if (typeof value !== 'object' || value === null) return leafOf(value, member)
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [leafOf(name, ''), rewrite(entry, name, leafOf)]),
  )
}
