import type { NetworkOf } from '@causeway/core'
import type { AttestationContext, AttestedChain } from '../../../apps/oracle/src/attestations/context.ts'
import { findReader } from '../../../apps/oracle/src/compose/attestationContext.ts'
import { watchedChain } from '../../../apps/oracle/src/compose/watchedChains.ts'
import { type TestAppOptions, testApp } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import { chains as otherChains, world } from '../../../apps/oracle/test/fixtures/world.ts'
import type { FamilyBed } from './familyBed.ts'

/** The HTTP surface of one oracle over several chains. */
export type BedOracle = {
  readonly hub: AttestationContext['hub']
  readonly networkOf: NetworkOf
  post(path: string, payload: object): Promise<BedAnswer>
  /** Background work of a running oracle every few seconds. */
  look(): Promise<void>
  close(): Promise<void>
}

export type BedAnswer = { readonly status: number; readonly body: unknown }

/**
 * Chains without a bed are known and not read.
 * @param finalEntriesMax final transactions that readers keep; default 0
 * @param options default: every request is attested anew, and chains are not watched
 */
export async function openBedOracle(
  beds: readonly FamilyBed[],
  finalEntriesMax = 0,
  options: Pick<TestAppOptions, 'keptMax' | 'now'> = { keptMax: 0 },
): Promise<BedOracle> {
  const chains = new Map<string, AttestedChain>([
    ...otherChains,
    ...beds.map(({ chain }) => [chain.id, chain] as const),
  ])
  const open = new Map(beds.map((bed) => [bed.chain.id, bed.open(finalEntriesMax)]))
  const context: AttestationContext = {
    ...world({}),
    chains,
    networkOf: (id) => chains.get(id),
    readerOf: (id) => findReader(chains, open, id),
  }
  const watched = [...open.values()].map((chain) => watchedChain(chain, context.hub))
  const { app, watch } = await testApp({
    context,
    deadlineMs: 60_000,
    ...options,
    ...(options.now !== undefined && { watched }),
  })
  return {
    hub: context.hub,
    networkOf: context.networkOf,
    async post(path, payload) {
      const response = await app.inject({ method: 'POST', url: path, payload })
      return { status: response.statusCode, body: response.json() }
    },
    look: () => watch.check(),
    async close() {
      await app.close()
      await Promise.all([...open.values()].map((chain) => chain.close()))
    },
  }
}
