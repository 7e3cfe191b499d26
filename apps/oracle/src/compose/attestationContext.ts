import { type FactsReader, UnknownChainError } from '@causeway/core'
import type { FamilyChain, RegisteredChain } from '@causeway/families'
import { recoverSigner } from '@causeway/signer'
import type { AttestationContext } from '../attestations/context.ts'
import { AttestationError } from '../attestations/errors.ts'
import type { ChainWatch } from '../halt/chainWatch.ts'
import type { OpenAllocator } from './allocator.ts'
import type { OpenHub } from './hub.ts'

/** The hub, and the allocator where one can be read. */
export type HubAndAllocator = { readonly hub: OpenHub; readonly allocator: OpenAllocator | undefined }

/** Makes what attestation rules read from. Every reader first refuses a chain that is not ready or halted. */
export function createContext(
  chains: ReadonlyMap<string, RegisteredChain>,
  { hub, allocator }: HubAndAllocator,
  openChains: ReadonlyMap<string, FamilyChain>,
  watch: ChainWatch,
): AttestationContext {
  const { recovery } = hub
  return {
    chains,
    networkOf: (chainId) => chains.get(chainId),
    hub: hub.attested,
    hubBalances: hub.reader,
    ...(allocator !== undefined && {
      allocator: {
        keys: allocator.keys,
        readIssued(question, reading) {
          watch.refuseUnlessReady(allocator.reader.chainId)
          return allocator.reader.readIssued(question, reading)
        },
      },
    }),
    ...(recovery !== undefined && {
      recovery: {
        delaySeconds: recovery.delaySeconds,
        read(question, reading) {
          watch.refuseUnlessReady(recovery.reader.chainId)
          return recovery.reader.read(question, reading)
        },
      },
    }),
    readerOf(chainId) {
      const reader = findReader(chains, openChains, chainId)
      watch.refuseUnlessReady(chainId)
      // Marks the chain as used. If its blocks were not being followed, this makes its reader drop its cache.
      watch.useKept(chainId)
      return reader
    },
    recoverSigner,
  }
}

/**
 * The facts reader of a chain. @throws UnknownChainError; AttestationError `CHAIN_UNAVAILABLE` for a chain
 * that is configured without a usable endpoint
 */
export function findReader(
  chains: ReadonlyMap<string, unknown>,
  openChains: ReadonlyMap<string, { readonly reader: FactsReader }>,
  chainId: string,
): FactsReader {
  const openChain = openChains.get(chainId)
  if (openChain !== undefined) return openChain.reader
  if (!chains.has(chainId)) throw new UnknownChainError(chainId)
  throw new AttestationError('CHAIN_UNAVAILABLE', `Chain ${chainId} has no endpoint configured here.`, {
    data: { chainId },
  })
}
