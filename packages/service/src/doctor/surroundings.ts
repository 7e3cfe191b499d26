import { randomBytes } from 'node:crypto'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Secret } from '@causeway/core'
import { counted, type Findings } from '@causeway/core/config'
import { z } from 'zod'

/** A configured listener. Host or port is `undefined` where its setting is invalid, which is reported elsewhere. */
export type NamedListener = {
  readonly setting: string
  readonly host: string | undefined
  readonly port: number | undefined
}

/** Reports two listeners of one process on the same port. Port 0 means any free port and is no conflict. */
export function examinePorts(listeners: readonly NamedListener[], findings: Findings): void {
  for (const [index, { setting, host, port }] of listeners.entries()) {
    if (host === undefined || port === undefined || port === 0) continue
    const earlierListeners = listeners.slice(0, index)
    // An invalid host (`''`) still overlaps one that stands for all addresses.
    const other = earlierListeners.find(
      (listener) => listener.port === port && overlap(listener.host ?? '', host),
    )
    if (other === undefined) continue
    findings.add({
      code: 'setting-contradicts',
      severity: 'stops',
      setting,
      seen: `is port ${port}, as ${other.setting}`,
      fix: `Give ${setting} a port of its own.`,
    })
  }
}

/** Hosts that stand for all addresses of the machine. */
const wildcardHosts: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

function overlap(one: string, other: string): boolean {
  const addressOf = (host: string) => (host === 'localhost' ? '127.0.0.1' : host)
  return addressOf(one) === addressOf(other) || wildcardHosts.has(one) || wildcardHosts.has(other)
}

/** Reports variables that have no effect because another one, which they need, is not set. */
export function examineCompanions(
  values: Readonly<Record<string, unknown>>,
  companions: readonly (readonly [setting: string, needs: string])[],
  findings: Findings,
): void {
  for (const [setting, needs] of companions) {
    if (values[setting] === undefined || values[needs] !== undefined) continue
    findings.add({
      code: 'setting-without-effect',
      severity: 'degrades',
      setting,
      seen: `is set, and does nothing without ${needs}`,
      fix: `Set ${needs}, or remove ${setting}.`,
    })
  }
}

/** A disk with less free space counts as full, because journals grow for weeks. */
const freeBytesMin = 64 * 1024 * 1024

/** Reports a state folder that is not writable or whose disk is full. Creates a missing folder, as the start does. */
export async function examineFolder(setting: string, directory: string, findings: Findings): Promise<void> {
  const probe = join(directory, `.doctor-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(probe, 'x', { mode: 0o600 })
    await rm(probe)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    findings.add({
      code: code === 'ENOSPC' ? 'disk-full' : 'disk-unwritable',
      severity: 'stops',
      setting,
      seen: `nothing can be written to the folder (${code})`,
      fix: 'Let the user that runs the service own the folder, on a volume with room.',
    })
    return
  }
  const { bavail, bsize } = await statfs(directory)
  const freeBytes = bavail * bsize
  if (freeBytes >= freeBytesMin) return
  findings.add({
    code: 'disk-full',
    severity: 'degrades',
    setting,
    seen: `the disk has ${Math.floor(freeBytes / 1024 / 1024)} MiB left`,
    fix: 'Make room: what cannot be written is not signed.',
  })
}

const readinessSchema = z.object({ ready: z.boolean(), signer: z.string().optional() })

/** Another operator's oracle, as a setting of this service lists it. */
export type Neighbour = {
  /** Name of the setting, with the position of an entry, e.g. `ORACLES entry 2`. */
  readonly setting: string
  /** Host and port, which may be shown. */
  readonly name: string
  /** May contain a key, so it is never shown. */
  readonly url: string
  /** Our key at that oracle; undefined: it gave us none. */
  readonly apiKey?: Secret | undefined
}

/**
 * Asks another oracle whether it is ready, which address signs there, and whether it knows our key.
 * @returns the signer's address in lower case; `undefined` where the oracle does not answer or names none
 */
export async function examineOracle(
  neighbour: Neighbour,
  timeoutMs: number,
  findings: Findings,
): Promise<string | undefined> {
  const { setting, name, url } = neighbour
  const addSilence = (observation: string, fix: string = compareUrl) =>
    findings.add({ code: 'peer-silent', severity: 'degrades', setting, seen: `${name} ${observation}`, fix })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}/lives/ready/v1`, { signal, redirect: 'error' })
    const parsed = readinessSchema.safeParse(await response.json().catch(() => undefined))
    if (!parsed.success) {
      if (isRefusal(response)) addRefusal(neighbour, `answers ${response.status}`, findings)
      else addSilence('answers, and is no oracle of this release')
      return undefined
    }
    if (!parsed.data.ready) addSilence('answers that it is not ready')
    await examineKeyAt(neighbour, signal, findings)
    return parsed.data.signer?.toLowerCase()
  } catch (error) {
    const { seen, fix } = describeSilence(error)
    addSilence(seen, fix)
    return undefined
  }
}

/** The setting `ORACLES`, parsed: the oracles whose signatures count on the hub. */
export type ListedOracles = {
  readonly oracles: readonly {
    /** Host and port. */
    readonly name: string
    readonly url: Secret
    readonly apiKey: Secret | undefined
    readonly signer: string
  }[]
  /** Number of signers that must answer. */
  readonly threshold: number
}

const oracleTimeoutMs = 5_000

/**
 * Examines every oracle of `ORACLES`: it must be reachable, know our key and sign with the listed address. Reports each
 * that does not, and reports if fewer than `threshold` do.
 * @param consequence of too few oracles, for the text: e.g. `nothing settles`
 */
export async function examineOracles(
  { oracles, threshold }: ListedOracles,
  consequence: string,
  findings: Findings,
): Promise<void> {
  const areAsListed = await Promise.all(
    oracles.map(async ({ name, url, apiKey, signer }, index) => {
      const setting = `ORACLES entry ${index + 1}`
      const neighbour = { setting, name, url: url.reveal(), apiKey }
      const signerAddress = await examineOracle(neighbour, oracleTimeoutMs, findings)
      if (signerAddress === undefined) return false
      if (signerAddress === signer.toLowerCase()) return true
      findings.add({
        code: 'signer-unlisted',
        severity: 'degrades',
        setting: 'ORACLES',
        seen: `entry ${index + 1}: ${name} signs as ${signerAddress}, and another address is listed`,
        fix: 'Ask its operator which address signs, by another way than this answer, and list that one.',
      })
      return false
    }),
  )
  const count = areAsListed.filter(Boolean).length
  if (count >= threshold) return
  findings.add({
    code: 'threshold-unreachable',
    severity: 'degrades',
    setting: 'ORACLES',
    seen: `${count} of ${counted(oracles.length, 'oracle')} named the listed signer, and ${threshold} must: ${consequence}`,
    fix: 'Mend the oracles that are named beside this.',
  })
}

/**
 * Reports an oracle that does not know our key. It need not answer 401: it may serve us like a caller without
 * a key, within a rate limit. The header `x-ratelimit-limit` shows that: callers with a key have no limit.
 */
async function examineKeyAt(neighbour: Neighbour, signal: AbortSignal, findings: Findings): Promise<void> {
  const { url, apiKey } = neighbour
  if (apiKey === undefined) return
  const headers = { 'x-api-key': apiKey.reveal() }
  const response = await fetch(`${url}/chains/v1`, { headers, signal, redirect: 'error' })
  // Reads the answer to its end, so that the connection is free again.
  await response.arrayBuffer()
  if (isRefusal(response)) addRefusal(neighbour, `does not take our key (${response.status})`, findings)
  else if (response.headers.has('x-ratelimit-limit')) addRefusal(neighbour, 'does not know our key', findings)
}

const isRefusal = ({ status }: Response): boolean => status === 401 || status === 403

function addRefusal({ setting, name }: Neighbour, observation: string, findings: Findings): void {
  findings.add({
    code: 'peer-refuses',
    severity: 'degrades',
    setting,
    seen: `${name} ${observation}`,
    fix: 'Ask its operator whether the key was revoked, and put the one that he gives you into the entry.',
  })
}

const compareUrl = 'Compare the URL with what its operator gave you, and see that this machine reaches it.'

const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'shows an expired certificate',
  CERT_NOT_YET_VALID: 'shows a certificate that is not valid yet: compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'shows a certificate of another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'shows a certificate that nobody vouches for',
  SELF_SIGNED_CERT_IN_CHAIN: 'shows a certificate of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'shows a certificate of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'shows a certificate of an unknown authority',
}

const causeSchema = z.object({ cause: z.object({ code: z.string() }) })

/** Describes a request that got no answer, without the error's message, which may contain the URL and a key in it. */
export function describeSilence(error: unknown): { readonly seen: string; readonly fix: string } {
  const code = causeSchema.safeParse(error).data?.cause.code ?? ''
  const certificate = certificateFaults[code]
  if (certificate === undefined) return { seen: 'does not answer', fix: compareUrl }
  const fix = 'Ask its operator to renew or mend the certificate. Nothing is asked of it before.'
  return { seen: `${certificate} (${code})`, fix }
}
