import { type ChainCheck, verifyChain } from '@causeway/chains'
import type { FactsReader } from '@causeway/core'
import { checkLocalNodes, type FamilyChain } from '@causeway/families'
import type { AttestedHub } from '../attestations/context.ts'
import type { WatchedChain } from '../halt/watchedChain.ts'
import type { HubAndAllocator } from './attestationContext.ts'
import type { OpenHub } from './hub.ts'

/** The hub, the allocator and all opened chains, as `ChainWatch` watches them. */
export function watchedChains(
  environment: string,
  { hub, allocator }: HubAndAllocator,
  open: ReadonlyMap<string, FamilyChain>,
): readonly WatchedChain[] {
  const checkOf =
    ({ client, verify }: Pick<OpenHub, 'client' | 'verify'>): ChainCheck =>
    (signal) =>
      verifyChain({ verify, verifyLocal: () => checkLocalNodes(environment, client) }, environment, signal)
  const verifyHub = checkOf(hub)
  // Under its own id only the hub's endpoints are checked; its final blocks are watched for the recovery reader.
  const watched: WatchedChain[] = [{ id: hub.attested.id, verify: verifyHub, finalBlocks: () => undefined }]
  if (hub.recovery !== undefined) watched.push(watchedReader(hub.recovery.reader, verifyHub))
  if (allocator !== undefined) watched.push(watchedReader(allocator.reader, checkOf(allocator)))
  for (const chain of open.values()) {
    const verify = (signal: AbortSignal) => verifyChain(chain, environment, signal)
    watched.push(watchedChain({ ...chain, verify }, hub.attested))
  }
  return watched
}

/** A reader of contracts on the hub or on the allocator's chain, whose final blocks are watched for it. */
function watchedReader(
  reader: Pick<FactsReader, 'chainId' | 'finalBlocks'>,
  verify: ChainCheck,
): WatchedChain {
  return { id: reader.chainId, verify, finalBlocks: () => reader.finalBlocks }
}

/** A family's chain as `ChainWatch` watches it. */
export function watchedChain(
  { reader, verify, readsHub }: Pick<FamilyChain, 'reader' | 'verify' | 'readsHub'>,
  hub: Pick<AttestedHub, 'id'>,
): WatchedChain {
  return {
    id: reader.chainId,
    verify,
    finalBlocks: () => reader.finalBlocks,
    restsOn: readsHub === true ? hub.id : undefined,
  }
}

/** The checks of all watched chains, each once: the hub is watched under several ids. */
export function checksOf(watched: readonly WatchedChain[]): ReadonlyMap<string, ChainCheck> {
  const first = watched.filter(
    ({ verify }, index) => watched.findIndex((one) => one.verify === verify) === index,
  )
  return new Map(first.map(({ id, verify }) => [id, verify]))
}
