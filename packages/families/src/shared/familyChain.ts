import type { Hex } from '@causeway/core'
import type { ObserveEndpoints, QuorumEndpointHealth } from '@causeway/rpc'
import type { FamilyReader } from './createFactsReader.ts'
import type { HubEntries } from './hubEntries.ts'
import type { KnownCode } from './knownCode.ts'
import type { RegisteredChain } from './registeredChain.ts'

/** A service's access to one chain, whatever its family. Opens no connection before the first reading. */
export interface FamilyChain {
  readonly reader: FamilyReader
  /** Set where facts rest on entries of the hub as well. */
  readonly readsHub?: true
  /**
   * Contradictions between endpoints and configuration (another chain or network, no depository there), one sentence
   * each that names settings. @throws DomainError when too few of them answer
   */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /**
   * Endpoints that are no part of a local network, one sentence each. Asked only where `ENVIRONMENT` is one of this
   * machine, by default `local`. @throws DomainError when too many of them do not answer
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

export type FamilyLimits = {
  /** Final transactions that are kept; 0 reads every one again. */
  readonly finalEntriesMax: number
  /** Compares what stands at depositories and fill contracts, where the family has contracts; absent: nothing does. */
  readonly isKnownCode?: KnownCode
  /** True for the runtime code of a fill contract of ours: payments are proven by its records. */
  readonly recordsPayments?: (code: Hex) => boolean
}

/**
 * @param hubEntries absent where the hub has no generic mapping
 * @throws ConfigurationError for settings that cannot be meant
 */
export type OpenFamilyChain = (
  chain: ReadableChain,
  limits: FamilyLimits,
  hubEntries?: HubEntries,
) => FamilyChain
