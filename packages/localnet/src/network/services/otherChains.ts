import { type FamilyKey, familyPlans, forEachFamily } from '../../families/familyPlans.ts'
import type { FamilyFacts } from '../../families/familySettings.ts'
import type { FamilyUrls } from '../../families/familyVariables.ts'
import { familyChainIds } from '../../families/quotedFamilies.ts'
import type { FamilyProcess } from '../familyProcess.ts'
import { waitUntilQuoted } from './waitUntilQuoted.ts'

/** Chains of the other families than the EVM's. Services know them from their start, and take each up when it answers. */
export type OtherChains = {
  readonly urls: FamilyUrls
  readonly controlUrl: string
  /**
   * Resolves when the chain is open and, where quote-api runs, quoted. Rejects with a StartFailure that says why one
   * cannot be: the others go on.
   */
  readonly opened: Readonly<Record<FamilyKey, Promise<FamilyFacts>>>
  /** Resolves when every chain is open, or was given up. */
  readonly settled: Promise<void>
}

/** Opened beside the services; every other one once the first quote can be answered. */
const firstFamily: FamilyKey = 'solana'
const timeoutMs = 90_000

export function openOtherChains(args: {
  readonly process: FamilyProcess
  /** Resolves when all but the first may be opened. */
  readonly goOn: Promise<unknown>
  /** Told of each that is open. */
  readonly onOpen: (key: FamilyKey, facts: FamilyFacts) => Promise<void>
  /** Waited for before one counts as quoted; `undefined` where nobody quotes. */
  readonly quoteApiUrl: Promise<string | undefined>
  readonly stageDone: (name: string, about: string) => void
  readonly report: (line: string) => void
  readonly signal: AbortSignal
}): OtherChains {
  const { process, goOn, onOpen, quoteApiUrl, stageDone, report, signal } = args
  // One after the other: each takes its part of the processor that the services run on.
  let last: Promise<unknown> = Promise.resolve()
  const openOne = (key: FamilyKey): Promise<FamilyFacts> => {
    const open = (async () => {
      if (key !== firstFamily) await Promise.all([goOn, last])
      const facts = await process.open(key, signal)
      await onOpen(key, facts)
      return facts
    })()
    last = open.catch(() => undefined)
    return open.then(async (facts) => {
      const url = await quoteApiUrl
      const { name } = familyPlans[key]
      const chain = { name, chainId: familyChainIds[key] }
      if (url !== undefined) await waitUntilQuoted(chain, { quoteApiUrl: url, timeoutMs, signal })
      stageDone(key, `${url === undefined ? 'open' : 'quoted'}: ${name} as a stand-in shows it`)
      return facts
    })
  }
  // In the order of their ports, which `last` follows.
  const opened = forEachFamily(openOne)
  for (const one of Object.values(opened)) {
    one.catch((error: unknown) => {
      if (!signal.aborted) report(error instanceof Error ? error.message : String(error))
    })
  }
  const settled = Promise.allSettled(Object.values(opened)).then(() => undefined)
  return { urls: process.urls, controlUrl: process.controlUrl, opened, settled }
}
