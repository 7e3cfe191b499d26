import { createHash } from 'node:crypto'
import { ConfigurationError } from '@causeway/core'
import { type DenyList, parseDenyList, refuseReplacement, unionOfDenyLists } from './denyList.ts'
import type { DenyListSettings } from './denyListSettings.ts'
import { type DenyListSource, fileSource, urlSource } from './denyListSource.ts'

/** Health of the deny list in force. */
export type DenyListHealth = {
  readonly entries: number
  /** Seconds since a source was last seen to hold its list in force; of several sources the longest time. */
  readonly ageSeconds: number
  readonly isStale: boolean
}

/** The lists in force of all sources, which are read again at intervals. */
export interface KeptDenyList extends DenyList {
  health(): DenyListHealth
  /** Reads every source now. Never rejects: a problem of a source is an event, and its list stays. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Event of one source; `kept` is not repeated while the problem stays the same. */
export type DenyListEvent =
  | { readonly kind: 'replaced'; readonly setting: string; readonly entries: number }
  /** The previous list stays in force. */
  | { readonly kind: 'kept'; readonly setting: string; readonly problem: string }

type KeeperOptions = {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  readonly observe: (event: DenyListEvent) => void
}

/**
 * Reads the list of every configured source, and reads it again every `refreshSeconds`. A list that cannot be read or
 * is refused leaves the previous one in force.
 * @returns undefined where no source is configured
 * @throws ConfigurationError naming the variable, if a first list cannot be read: no previous list could be applied
 */
export async function openDenyList(
  settings: DenyListSettings,
  options: KeeperOptions,
): Promise<KeptDenyList | undefined> {
  const sources = sourcesOf(settings)
  if (sources.length === 0) return undefined
  const closing = new AbortController()
  const openedSources = await Promise.all(
    sources.map((source) => openSource(source, settings, { ...options, signal: closing.signal })),
  )
  const inForce = (): DenyList => unionOfDenyLists(openedSources.map(({ list }) => list()))
  let underway: Promise<void> | undefined
  // Refreshes share one that is underway, so that a slow host is not asked twice at a time.
  const refresh = () => {
    underway ??= Promise.all(openedSources.map((one) => one.refresh())).then(() => {
      underway = undefined
    })
    return underway
  }
  const timer = setInterval(() => void refresh(), settings.refreshSeconds * 1_000)
  timer.unref()
  return {
    get entries() {
      return inForce().entries
    },
    denies: (account, keyId) => inForce().denies(account, keyId),
    health() {
      const oldestMs = Math.min(...openedSources.map(({ seenAtMs }) => seenAtMs()))
      const ageSeconds = (options.now() - oldestMs) / 1_000
      return { entries: inForce().entries, ageSeconds, isStale: ageSeconds > settings.maxAgeSeconds }
    },
    refresh,
    async close() {
      clearInterval(timer)
      closing.abort()
      await underway
    },
  }
}

/** Reads every source once, as a check of the configuration. @returns problems with the variable of their source */
export async function examineDenyList(
  settings: DenyListSettings,
): Promise<readonly { readonly setting: string; readonly problem: string }[]> {
  const problems = await Promise.all(
    sourcesOf(settings).map(async (source) => {
      try {
        await readSource(source, settings, new AbortController().signal)
        return []
      } catch (error) {
        return [{ setting: source.setting, problem: problemOf(error) }]
      }
    }),
  )
  return problems.flat()
}

function sourcesOf({ file, url }: DenyListSettings): readonly DenyListSource[] {
  return [...(file === undefined ? [] : [fileSource(file)]), ...(url === undefined ? [] : [urlSource(url)])]
}

/** A list that was read from a source, and what a later reading is compared with. */
type ListVersion = {
  readonly list: DenyList
  readonly digest: string
  readonly etag: string | undefined
  /** Most entries of any list of the source since the start. */
  readonly entriesMost: number
}

/** The source's current list; `inForce` itself if it has not changed. @throws ConfigurationError, the signal's reason */
async function readSource(
  source: DenyListSource,
  { entriesMin }: Pick<DenyListSettings, 'entriesMin'>,
  signal: AbortSignal,
  inForce?: ListVersion,
): Promise<ListVersion> {
  const reading = await source.read(inForce?.etag, signal)
  if (reading.kind === 'unchanged' && inForce !== undefined) return inForce
  if (reading.kind === 'unchanged') throw new ConfigurationError('its host answers with no list')
  const { text, etag } = reading
  const digest = createHash('sha256').update(text).digest('hex')
  if (digest === inForce?.digest) return { ...inForce, etag }
  const list = parseDenyList(text)
  const { entriesMost = 0 } = inForce ?? {}
  const refusal = refuseReplacement(list, { entriesMost, entriesMin })
  if (refusal !== undefined) throw new ConfigurationError(refusal)
  return { list, digest, etag, entriesMost: Math.max(entriesMost, list.entries) }
}

/** Reads a source for the first time and keeps its list. @throws ConfigurationError naming the variable */
async function openSource(
  source: DenyListSource,
  settings: DenyListSettings,
  { now, observe, signal }: KeeperOptions & { readonly signal: AbortSignal },
) {
  const { setting } = source
  const openedAtMs = now()
  const first = await readSource(source, settings, signal).catch((error: unknown) => {
    throw new ConfigurationError(`${setting}: ${problemOf(error)}`)
  })
  let version = first
  let seenAtMs = openedAtMs
  let reportedProblem: string | undefined
  return {
    list: () => version.list,
    seenAtMs: () => seenAtMs,
    async refresh() {
      const askedAtMs = now()
      try {
        const next = await readSource(source, settings, signal, version)
        if (next.list !== version.list) observe({ kind: 'replaced', setting, entries: next.list.entries })
        version = next
        // The source may have changed while it answered, so only the time of the question is sure.
        seenAtMs = askedAtMs
        reportedProblem = undefined
      } catch (error) {
        if (signal.aborted) return
        const problem = problemOf(error)
        if (problem !== reportedProblem) observe({ kind: 'kept', setting, problem })
        reportedProblem = problem
      }
    },
  }
}

/** Words for any error of a reading: no content of a list may end the service. */
function problemOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message
  return `it cannot be read (${error instanceof Error ? error.name : 'unknown'})`
}
