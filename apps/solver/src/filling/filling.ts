import type { DenyList, HubRecoveries } from '@causeway/chains'
import type { Hex, NetworkOf } from '@causeway/core'
import type { ExposureLimits } from '@causeway/core/config'
import type { VmCodec } from '@causeway/core/encodings'
import type { FillContracts, LinePayingChain } from '@causeway/families'
import type { CostedTransaction, PayeeRule } from '@causeway/families/rules'
import type { DepositReader } from '../facts/deposits.ts'
import type { PaymentRecord } from '../facts/paymentRecord.ts'
import type { OrderRules } from '../judge/signedOrder.ts'
import type { Sharing } from '../judge/turns.ts'
import type { LossLimits, Valuer } from '../judge/verdict.ts'
import type { ChainDesk } from '../wallet/chainDesk.ts'
import type { Inventory } from '../wallet/inventory.ts'
import type { Records } from '../wallet/records.ts'
import type { PaidOrder } from '../work/workItems.ts'

/** Access to deposit addresses that are scripts, to empty them. */
export type ScriptSweeping = Pick<
  LinePayingChain,
  'publicKey' | 'depository' | 'depositAddress' | 'outputsToSweep'
>

/** A chain that this solver pays on, with everything that items on it need. Addresses in canonical spelling. */
export type SolverChain = {
  /** As orders name it. */
  readonly key: string
  readonly chainId: number
  /** Spelling of its addresses and currencies. */
  readonly codec: VmCodec
  /** Tells accounts that are never paid there. */
  readonly payees: PayeeRule
  /** Contract that pays; undefined in families without one. */
  readonly fillContract: Hex | undefined
  /** The contract and those that it replaced; absent where none can be replaced. */
  readonly fillContracts?: FillContracts | undefined
  /** Time that a payment needs to get into a block; with less left, none is sent. */
  readonly landsWithinSeconds: number
  /** Contracts of the quote file that sweeps and permits go through; undefined where the chain has none. */
  readonly depositAddresses: Hex | undefined
  /** Empties deposit addresses that a program derived; absent where contracts or scripts do, or there are none. */
  readonly addressProgram?: string | undefined
  readonly permitRouter: Hex | undefined
  readonly permit2Router: Hex | undefined
  readonly multicall3: Hex | undefined
  /** Empties deposit addresses that are scripts; absent where contracts do, or there are none. */
  readonly sweeping?: ScriptSweeping | undefined
  readonly desk: ChainDesk
  readonly inventory: Inventory
  readonly record: PaymentRecord
  readonly exposure: ExposureLimits
  /** True if an account has code now; undefined while that cannot be read. Absent where code changes nothing. */
  readonly hasCode?: ((account: string) => Promise<boolean | undefined>) | undefined
  /** Failure of the submit endpoint in its last use. Absent on chains without such an endpoint. */
  readonly submitFailure?: () => Error | undefined
  /** Cost of a transaction now, in smallest units of native coin; undefined while nobody knows. */
  costOf(transaction: CostedTransaction): bigint | undefined
  /** Most that a transaction may cost, in bps of what was charged for it. */
  readonly gasMarginBps: number
}

export type FillingLimits = LossLimits & {
  readonly lossPerHourMicroUsd: bigint
  readonly claimsPerHourMicroUsd: bigint
}

/** Everything that `handleItem` needs beside the item. Made once at start. */
export type Filling = {
  readonly chains: readonly SolverChain[]
  readonly records: Records
  readonly deposits: DepositReader
  readonly orders: OrderRules
  readonly networkOf: NetworkOf
  /** With whom the market is shared: the own wallet alone, or others as well. */
  readonly sharing: Sharing
  /** Values at current prices. */
  readonly valuer: () => Valuer
  readonly limits: FillingLimits
  /** Undefined: nobody is denied. */
  readonly denyList: DenyList | undefined
  /** True if the solver has oracles, which attest its payments. */
  readonly hasOracles: boolean
  /** True if too few oracles sign for a chain, by its key. */
  readonly isHalted: (key: string) => boolean
  /** Undefined without oracles that sign for the hub, or without a wallet that pays for transactions there. */
  readonly recoveries: Recoveries | undefined
  /** True: everything is judged and nothing is signed. */
  readonly isDryRun: boolean
}

/** Access to the hub for orders that are given up. */
export type Recoveries = {
  readonly hub: HubRecoveries
  /** The number of an EVM chain, or of the hub, by its string id. */
  chainNumberOf(key: string): number | undefined
}

/** A fill, refund or claim on its way to be paid. */
export type Payment = {
  readonly order: PaidOrder
  readonly chain: SolverChain
  readonly filling: Filling
}
