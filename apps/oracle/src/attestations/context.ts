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

/** Reads balances on the hub, on which a quorum of its endpoints agrees. */
export type HubBalances = Pick<HubReader, 'balanceOf' | 'finalBalanceOf'>

/** Configuration, and readers of chains and of the hub, which attestation rules use beside the request. */
export type AttestationContext = {
  readonly chains: ReadonlyMap<string, AttestedChain>
  readonly networkOf: NetworkOf
  readonly hub: AttestedHub
  readonly hubBalances: HubBalances
  /** Absent where no allocator can be read: then no withdrawal has an execution. */
  readonly allocator?: {
    /** `withdrawalKeys` of the hub file. */
    readonly keys: WithdrawalKeys
    readonly readIssued: AllocatorReader['readIssued']
  }
  /** Absent where the hub file names no generic mapping: then no deposit of an order can be recovered. */
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

/** Money that signed payload parameters let an allocator pay out, for the signing caps. One withdrawal has one key. */
export type Payout = { readonly key: Hex; readonly hubTokenId: bigint; readonly amount: bigint }

/** The payments on which a settlement's execution rests. Each payment counts for one execution, see `claimSettlement`. */
export type ProvenSettlement = {
  readonly orderId: Hex
  /** Deposited part of the order's input: 10^18 is all of it, and the maximum. */
  readonly worth: bigint
  /** Names of the payments: `fillPaymentName` for a fill, and a `paymentName` for each transaction. */
  readonly payments: readonly string[]
}

/** Result of one kind of attestation: an answer that only lacks its signatures. */
export type Attested<Response> = {
  readonly unsigned: Response
  readonly evidence: readonly Evidence[]
  /** True when the same request will have the same answer for ever. */
  readonly isFinal: boolean
  /** Set for payload parameters. The value of an execution is read from its actions instead. */
  readonly payout?: Payout
  /** Set for a fill or a refund; absent with `force`, where no payment was read. */
  readonly settlement?: ProvenSettlement
}

/** Answer of a rule that always has an execution; it is removed later if a signing cap holds it. */
export type WithExecution<Response extends { execution?: unknown }> = Response & {
  readonly execution: NonNullable<Response['execution']>
}

/** The rule of one attestation route: reads facts, checks them against the request, and builds the unsigned answer. */
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

/** The chain in the form that hashes of `core` take. */
export function protocolChain({ id, vmType, network }: AttestedChain): ProtocolChain {
  return { chainId: id, vmType, network }
}
