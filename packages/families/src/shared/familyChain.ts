import type { Hex } from '@causeway/core'
import type { ObserveEndpoints, QuorumEndpointHealth } from '@causeway/rpc'
import type { FamilyReader } from './createFactsReader.ts'
import type { HubEntries } from './hubEntries.ts'
import type { KnownCode } from './knownCode.ts'
import type { RegisteredChain } from './registeredChain.ts'

/** Access to the facts of one chain, whatever its family. Opens no connection before the first reading. */
export interface FamilyChain {
  readonly reader: FamilyReader
  /** Present if facts depend on entries of the hub as well. */
  readonly readsHub?: true
  /**
   * Contradictions between endpoints and configuration (another chain or network, no depository there), one sentence
   * for each, which names settings. @throws DomainError if too few endpoints answer
   */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /**
   * Problems of endpoints that do not belong to a local network, one sentence for each. Called only if `ENVIRONMENT` is
   * one of this machine; sentences may name it. @throws DomainError if too few endpoints answer
   */
  verifyLocal(signal: AbortSignal, environment?: string): Promise<readonly string[]>
  /** Health of the endpoints that facts are read from. Asks nothing. */
  health(): readonly QuorumEndpointHealth[]
  /** Registers listeners for later events of the same endpoints. */
  observe(observerOf: ObserveEndpoints): void
  close(): Promise<void>
}

/** A chain whose configuration names everything that its family needs. */
export type ReadableChain = RegisteredChain & { readonly depository: string }

/** Options of a service for all its chains. */
export type FamilyLimits = {
  /** Most final transactions in the cache; 0: none. */
  readonly finalEntriesMax: number
  /** Judges the code of depositories and fill contracts in `verify`; absent: code is not compared. */
  readonly isKnownCode?: KnownCode
  /** True for the runtime code of a fill contract of ours: payments are proven by its records. */
  readonly recordsPayments?: (code: Hex) => boolean
}

/**
 * Opens a chain for reading.
 * @param hubEntries absent if the hub has no generic mapping
 * @throws ConfigurationError for invalid settings
 */
export type OpenFamilyChain = (
  chain: ReadableChain,
  limits: FamilyLimits,
  hubEntries?: HubEntries,
) => FamilyChain
