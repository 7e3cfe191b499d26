import { type FamilyKey, familyPlans, forEachFamily } from '../../families/familyPlans.ts'
import type { FamilyFacts } from '../../families/familySettings.ts'
import type { FamilyUrls } from '../../families/familyVariables.ts'
import { familyChainIds } from '../../families/quotedFamilies.ts'
import type { FamilyProcess } from '../familyProcess.ts'
import { waitUntilQuoted } from './waitUntilQuoted.ts'

/** The chains of the other families in a session. Services have their URLs from the start and use each once it answers. */
export type OtherChains = {
  readonly urls: FamilyUrls
  readonly controlUrl: string
  /**
   * Resolves when the chain is open and, where quote-api runs, quoted. Rejects with a StartFailure that says why not; the
   * others go on.
   */
  readonly opened: Readonly<Record<FamilyKey, Promise<FamilyFacts>>>
  /** Resolves when every chain is open, or was given up. */
  readonly settled: Promise<void>
}

/** The family that is opened while the services start; every other one is opened once they are ready. */
const firstFamily: FamilyKey = 'solana'
const timeoutMs = 90_000

/** Begins to open all chains, one after the other, and reports each that cannot be opened. */
export function openOtherChains(args: {
  readonly process: FamilyProcess
  /** Resolves when the services are ready, so that all but the first chain may be opened. */
  readonly servicesReady: Promise<unknown>
  /** Called for each chain that is open. */
  readonly onOpen: (key: FamilyKey, facts: FamilyFacts) => Promise<void>
  /** Resolves when quote-api is ready; to `undefined` where none runs. */
  readonly quoteApiUrl: Promise<string | undefined>
  readonly stageDone: (name: string, about: string) => void
  readonly report: (line: string) => void
  readonly signal: AbortSignal
}): OtherChains {
  const { process, servicesReady, onOpen, quoteApiUrl, stageDone, report, signal } = args
  // One after the other, so that the services keep enough processor time.
  let lastOpening: Promise<unknown> = Promise.resolve()
  const openOne = (key: FamilyKey): Promise<FamilyFacts> => {
    const open = (async () => {
      if (key !== firstFamily) await Promise.all([servicesReady, lastOpening])
      const facts = await process.open(key, signal)
      await onOpen(key, facts)
      return facts
    })()
    lastOpening = open.catch(() => undefined)
    return open.then(async (facts) => {
      const url = await quoteApiUrl
      const { name } = familyPlans[key]
      const chain = { name, chainId: familyChainIds[key] }
      if (url !== undefined) await waitUntilQuoted(chain, { quoteApiUrl: url, timeoutMs, signal })
      stageDone(key, `${url === undefined ? 'open' : 'quoted'}: ${name} as a stand-in shows it`)
      return facts
    })
  }
  // `lastOpening` needs a fixed order: `forEachFamily` calls in the order of the ports.
  const opened = forEachFamily(openOne)
  for (const opening of Object.values(opened)) {
    opening.catch((error: unknown) => {
      if (!signal.aborted) report(error instanceof Error ? error.message : String(error))
    })
  }
  const settled = Promise.allSettled(Object.values(opened)).then(() => undefined)
  return { urls: process.urls, controlUrl: process.controlUrl, opened, settled }
}
