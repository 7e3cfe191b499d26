import { ConfigurationError, type Hex, Secret } from '@causeway/core'
import { listEntries, type SettingEntry, shownText } from '@causeway/core/config'
import { parseAddressList } from '@causeway/families/rules'

/** The signers that this oracle counts toward a quorum, and the number that a quorum takes. */
export type SignerPolicy = {
  /** Lower case; `undefined` without `ORACLE_SIGNERS`: then every signer of this oracle's own payload counts. */
  readonly signers: ReadonlySet<Hex> | undefined
  /** At least 1; without effect when `signers` is undefined. */
  readonly threshold: number
}

/** API key with which a peer is asked: one from `PEERS`, or (`pass-through`) the caller's. */
export type PeerCredential =
  | { readonly kind: 'key'; readonly key: Secret }
  | { readonly kind: 'pass-through' }

export type Peer = {
  /** Host and port: what logs and metrics may show. */
  readonly name: string
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly credential: PeerCredential
}

/** Settings of the oracles that sign together with this one. */
export type PeerSettings = { readonly policy: SignerPolicy; readonly peers: readonly Peer[] }

export type Parsed<Value> = {
  readonly value: Value
  /** Sentences for the log at start; they hold no key and no path. */
  readonly warnings: readonly string[]
}

/** `HTTP_HOST` and `HTTP_PORT`; port 0 is one that the system will pick. */
type Listener = { readonly host?: string | undefined; readonly port?: number | undefined }

const passThrough = 'pass-through'

/**
 * `PEERS`: entries `baseUrl|apiKey` separated by `;`, the key `pass-through` forwards the caller's.
 * @param own where this oracle listens: an entry for itself is refused, because its signature would not count twice
 * @throws ConfigurationError naming the number of the wrong entry, never its key
 * @source rules O-cfg-11, O-cfg-12, P-1, P-86
 */
export function parsePeers(text: string | undefined, own: Listener = {}): Parsed<readonly Peer[]> {
  const comparableUrls = new Set<string>()
  const warnings: string[] = []
  const peers = listEntries('PEERS', text).map((entry) => {
    const { entryName } = entry
    const { url, credential } = parseEntry(entry)
    const comparable = comparableUrl(url)
    if (comparableUrls.has(comparable))
      throw new ConfigurationError(`${entryName} repeats the URL of another one.`)
    if (isOwn(url, own)) throw new ConfigurationError(`${entryName} is this oracle itself.`)
    comparableUrls.add(comparable)
    if (credential.kind === 'pass-through') {
      warnings.push(`${entryName} (${url.host}) receives the keys of callers: it must be run by you.`)
    }
    return { name: url.host, baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, credential }
  })
  return { value: peers, warnings }
}

/** The keys in `PEERS`, each with its entry's name: this oracle shows them to peers. `pass-through` is no key. */
export function shownKeys(
  text: string | undefined,
): readonly { readonly entryName: string; readonly key: string }[] {
  return listEntries('PEERS', text).flatMap((entry) => {
    const key = entry.text.split('|').at(1)?.trim() ?? ''
    return key === '' || key === passThrough ? [] : [{ entryName: entry.entryName, key }]
  })
}

function parseEntry({ text, entryName }: SettingEntry): { url: URL; credential: PeerCredential } {
  const parts = text.split('|').map((part) => part.trim())
  const [address, key] = parts
  if (parts.length !== 2 || !address || !key) {
    throw new ConfigurationError(`${entryName} must be a URL and a key, joined by one |.`)
  }
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(`${entryName}: the key has an unusual character.`)
  const url = parseUrl(address, entryName)
  return {
    url,
    credential: key === passThrough ? { kind: 'pass-through' } : { kind: 'key', key: new Secret(key) },
  }
}

function parseUrl(address: string, entryName: string): URL {
  if (!URL.canParse(address)) throw new ConfigurationError(`${entryName} is no URL.`)
  const url = new URL(address)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError(`${entryName} must be an https URL.`)
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigurationError(`${entryName} must be https: over http its key can be read on the way.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(`${entryName} must not hold a user name; the key follows the |.`)
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ConfigurationError(`${entryName} must end with its path, without query or fragment.`)
  }
  return url
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(hostname)
}

/** Hosts of a listener that takes connections to every address of the machine. */
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** True for a URL of this oracle's own listener. Behind a balancer or another name only its signer shows that. */
function isOwn(url: URL, { host = '', port = 0 }: Listener): boolean {
  if (port === 0 || portOf(url) !== port) return false
  const listeningHost = host.includes(':') ? `[${host}]` : host
  return isLoopback(url.hostname)
    ? everywhere.has(host) || isLoopback(listeningHost)
    : url.hostname === listeningHost
}

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))

/** Text by which URLs of the same listener are equal: loopback names count as one, a slash at the end as none. */
function comparableUrl(url: URL): string {
  const host = isLoopback(url.hostname) ? 'loopback' : url.hostname
  return `${host}:${portOf(url)}${url.pathname.replace(/\/+$/, '')}`
}

/** Signatures that an answer needs. Without `ORACLE_SIGNERS` there is no threshold: this oracle's own is enough. */
export function requiredSignatures({ signers, threshold }: SignerPolicy): number {
  return signers === undefined ? 1 : threshold
}

/** Rules for gathering peers' signatures before anyone asks; see `createPreparedQuorums`. */
export type AheadPeers = {
  /** Number of oracles that are asked, including this one. */
  readonly askedCount: number
  /** True if a prepared answer with so many signers may be given to a caller. */
  readonly isEnough: (matched: number) => boolean
}

/**
 * Decides whether peers are asked ahead. Peers with `pass-through` need a caller's key, so only the others can be.
 * `undefined` where these cannot make a complete answer: with `ORACLE_SIGNERS` they must reach the threshold together
 * with this oracle, and be at least one; without it every peer must be asked, however many then sign.
 */
export function askedAhead(
  { signers, threshold }: SignerPolicy,
  peers: readonly Peer[],
): AheadPeers | undefined {
  const keyedCount = peers.filter(({ credential }) => credential.kind === 'key').length
  const neededCount = signers === undefined ? peers.length : Math.max(threshold - 1, 1)
  if (keyedCount < neededCount) return undefined
  return { askedCount: keyedCount + 1, isEnough: (matched) => signers === undefined || matched >= threshold }
}

/**
 * Parses `ORACLE_SIGNERS` (addresses separated by `;`) and `ORACLE_SIGNERS_THRESHOLD`.
 * @param options.ownSigner address of this oracle's key in lower case, which must be listed
 * @throws ConfigurationError in every case in which rule O-errors-02 stops the start
 * @source rules O-1, O-cfg-08, O-cfg-09, O-errors-02, O-quorum-07
 */
export function parseSignerPolicy(options: {
  signers: string | undefined
  threshold: string | undefined
  ownSigner: Hex
}): Parsed<SignerPolicy> {
  const threshold = parseThreshold(options.threshold)
  const signers = parseAddressList('ORACLE_SIGNERS', options.signers)
  if (signers.size === 0) {
    const isSet = (options.threshold ?? '').trim() !== ''
    const warnings = isSet ? ['ORACLE_SIGNERS_THRESHOLD has no effect without ORACLE_SIGNERS.'] : []
    return { value: { signers: undefined, threshold }, warnings }
  }
  if (threshold > signers.size) {
    throw new ConfigurationError(
      `ORACLE_SIGNERS_THRESHOLD is ${threshold}, but ORACLE_SIGNERS names ${signers.size} distinct signers.`,
    )
  }
  if (!signers.has(options.ownSigner)) {
    throw new ConfigurationError(
      `ORACLE_SIGNERS does not name this oracle's own signer ${options.ownSigner}.`,
    )
  }
  return { value: { signers, threshold }, warnings: [] }
}

function parseThreshold(text: string | undefined): number {
  const trimmed = (text ?? '').trim()
  if (trimmed === '') return 1
  if (!/^[0-9]{1,9}$/.test(trimmed) || Number(trimmed) < 1) {
    throw new ConfigurationError(
      `ORACLE_SIGNERS_THRESHOLD is ${shownText(trimmed)} and must be a whole number of at least 1.`,
    )
  }
  return Number(trimmed)
}
