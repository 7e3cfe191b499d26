import type { EnergyModel, FeerateModel, FlatModel, PriorityFeeModel } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { NetworkFees } from '../rules/quotingFamily.ts'

/** Why what a network charges must not be used. */
export type NetworkFeeRefusal =
  /** Endpoints contradict each other about it. */
  { readonly reason: 'gas_disputed' } | FeeAboveCeiling

/** A fee above its ceiling, in words of the chain's family: "`charge` on chain 1 `cost`, above the ceiling of `ceiling`". */
export type FeeAboveCeiling = {
  readonly reason:
    | 'gas_above_ceiling'
    | 'priority_fee_above_ceiling'
    | 'feerate_above_ceiling'
    | 'energy_price_above_ceiling'
    | 'transfer_fee_above_ceiling'
  readonly charge: string
  /** With its verb and unit. */
  readonly cost: string
  readonly ceiling: string
}

/** The median of enough estimates, or what is configured. */
export type EstimatedFrom = 'median' | 'configured'

/** Fees as health reports them. Whole numbers in decimal text. */
export type ShownNetworkFee =
  | {
      readonly microLamportsPerUnit: string
      readonly ceilingMicroLamportsPerUnit: string
      readonly priceFrom: EstimatedFrom
    }
  | { readonly satPerKvb: string; readonly ceilingSatPerKvb: string; readonly priceFrom: EstimatedFrom }
  | {
      readonly sunPerEnergy: string
      readonly sunPerByte: string
      readonly ceilingSunPerEnergy: string
      /** Prices are agreed; what tokens take is estimated. */
      readonly energyFrom: EstimatedFrom
    }
  | {
      readonly transferFee: string
      readonly ceilingTransferFee: string
      readonly feeFrom: 'agreed' | 'configured'
    }

/** Market reading of a chain without contracts to read prices from. */
export type NetworkReading = {
  readonly head: { readonly number: bigint; readonly timestampSeconds: number }
  readonly fees: NetworkFees | NetworkFeeRefusal
  readonly shown: ShownNetworkFee
  /** Smallest units by canonical currency; one that too few endpoints told is left out. */
  readonly inventory: ReadonlyMap<string, bigint>
  /** Voices that have reached the head, that must, and that there are. */
  readonly voices: { readonly agreed: number; readonly required: number; readonly configured: number }
}

/** Reads a chain that no contract calls read, by agreement of its endpoints. One per chain. */
export interface NetworkReader {
  /** @throws UpstreamUnavailableError when too few endpoints answer */
  read(limits: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<NetworkReading>
}

/** Each family's reader takes its own kind of fee model: the quote file is compared with that at start. */
export type NetworkReaderOptions = {
  readonly client: ChainClient
  readonly depository: string
  /** Which network of the family it is, as the chains file names it; absent: whatever the endpoints agree on. */
  readonly network: string | undefined
  /** The chain's number on the hub, which the first block of some families tells. */
  readonly hubChainId: string
  /** Pays for the solver, where the family has such contracts; in the spelling of the family. */
  readonly fillContract: string | undefined
  /** Makes and empties deposit addresses, in families of programs. */
  readonly depositAddressProgram?: string | undefined
  readonly feeModel: PriorityFeeModel | FeerateModel | EnergyModel | FlatModel
  /** Account whose balances are the inventory; without it inventory stays empty. */
  readonly fillWallet: string | undefined
  readonly currencies: readonly ListedCurrency[]
}

/** A currency as configuration lists it. */
export type ListedCurrency = {
  readonly address: string
  readonly decimals: number
  /** Absent: the family's own. */
  readonly tokenProgram?: string | undefined
}
