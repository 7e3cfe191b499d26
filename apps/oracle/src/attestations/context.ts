import type {
  Evidence,
  ExecutionDomain,
  FactsReader,
  Hex,
  MappingDomain,
  NetworkOf,
  ProtocolChain,
  WithdrawRequestDomain,
} from '@causeway/core'
import { UnknownChainError } from '@causeway/core'
import type { ChainEntry } from '@causeway/core/config'
import type { ChainNetwork } from '@causeway/core/encodings'
import type { AllocatorReader, HubReader, RecoveryReader, WithdrawalKeys } from '@causeway/families'

/** Members of a configured chain that rules need. */
export type AttestedChain = Pick<
  ChainEntry,
  'id' | 'vmType' | 'depository' | 'additionalDepositories' | 'hubChainId'
> &
  ChainNetwork

/** Members of the hub that rules need. Addresses in lower case. */
export type AttestedHub = {
  /** String id, e.g. `relay`. */
  readonly id: string
  readonly executionDomain: ExecutionDomain
  /** Absent where the hub file names no allocator. */
  readonly withdrawRequestDomain?: WithdrawRequestDomain
  /** Absent where the hub file names no generic mapping. */
  readonly mappingDomain?: MappingDomain
}

/** Balances on the hub, as the quorum of its endpoints tells them at one height. */
export type HubBalances = Pick<HubReader, 'balanceOf' | 'finalBalanceOf'>

/** Everything that attesting asks: configuration, chains and the hub. */
export type AttestationContext = {
  readonly chains: ReadonlyMap<string, AttestedChain>
  readonly networkOf: NetworkOf
  readonly hub: AttestedHub
  readonly hubBalances: HubBalances
  /** Absent where no allocator can be read: then no withdrawal has an execution. */
  readonly allocator?: {
    readonly keys: WithdrawalKeys
    readonly readIssued: AllocatorReader['readIssued']
  }
  /** Absent where the hub file names no generic mapping: then no deposit of an order goes back. */
  readonly recovery?: {
    /** Minimum age of the promise and of the deposit, in seconds. */
    readonly delaySeconds: bigint
    readonly read: RecoveryReader['read']
  }
  /** @throws UnknownChainError; AttestationError when the chain has no endpoint or must not be signed for */
  readonly readerOf: (chainId: string) => FactsReader
  /** Lower-case address of the key that signed; `undefined` for anything but a canonical signature. */
  readonly recoverSigner: (digest: Uint8Array, signature: string) => Hex | undefined
}

/** One withdrawal, whatever the allocator is asked to pay it with. */
export type Payout = { readonly key: Hex; readonly hubTokenId: bigint; readonly amount: bigint }

/** A settlement that payments prove: each of them settles the deposits of one execution. */
export type Settles = {
  readonly orderId: Hex
  /** Deposited part of the order's input: 10^18 is all of it, and the maximum. */
  readonly worth: bigint
  /** The fill of the order, and transactions by chain. */
  readonly payments: readonly string[]
}

/** Result of one kind of attestation: an answer that only lacks its signatures. */
export type Attested<Response> = {
  readonly unsigned: Response
  readonly evidence: readonly Evidence[]
  /** True when the same request will have the same answer for ever. */
  readonly isFinal: boolean
  /** Withdrawal that signed payload parameters release from a depository. Executions name theirs themselves. */
  readonly payout?: Payout
  /** Set for a fill or a refund that payments prove. */
  readonly settles?: Settles
}

/** Answer of a rule, always with its execution: only a signing cap removes it. */
export type WithExecution<Response extends { execution?: unknown }> = Response & {
  readonly execution: NonNullable<Response['execution']>
}

/** One kind of attestation: asks readers for facts, checks them against the request, builds the answer. */
export type Attest<Request, Response> = (
  request: Request,
  context: AttestationContext,
  options: { readonly signal: AbortSignal },
) => Promise<Attested<Response>>

/** @throws UnknownChainError */
export function chainOf({ chains }: Pick<AttestationContext, 'chains'>, chainId: string): AttestedChain {
  const chain = chains.get(chainId)
  if (chain === undefined) throw new UnknownChainError(chainId)
  return chain
}

/** Chain as hashes name it. */
export function protocolChain({ id, vmType, network }: AttestedChain): ProtocolChain {
  return { chainId: id, vmType, network }
}
