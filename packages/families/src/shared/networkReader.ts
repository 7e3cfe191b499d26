import type { EnergyModel, FeerateModel, FlatModel, PriorityFeeModel } from '@causeway/core/config'
import type { ChainClient } from '@causeway/rpc'
import type { NetworkFees } from '../rules/networkFees.ts'

/** Why the current fees of a network must not be used for quotes. */
export type NetworkFeeRefusal =
  /** Endpoints contradict each other about the fees. */
  { readonly reason: 'gas_disputed' } | FeeAboveCeiling

/** A fee above its ceiling, in the family's words: "`charge` on chain 1 `cost`, above the ceiling of `ceiling`". */
export type FeeAboveCeiling = {
  readonly reason:
    | 'gas_above_ceiling'
    | 'priority_fee_above_ceiling'
    | 'feerate_above_ceiling'
    | 'energy_price_above_ceiling'
    | 'transfer_fee_above_ceiling'
  readonly charge: string
  /** Verb, amount and unit, e.g. `takes 5`. */
  readonly cost: string
  readonly ceiling: string
}

/** Source of a fee: the median of enough endpoints' estimates, or the configured value. */
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
      /** Source of the energy that tokens take; prices are agreed by endpoints. */
      readonly energyFrom: EstimatedFrom
    }
  | {
      readonly transferFee: string
      readonly ceilingTransferFee: string
      readonly feeFrom: 'agreed' | 'configured'
    }

/** Market data of a chain that a `NetworkReader` reads: head, fees and the solver's balances. */
export type NetworkReading = {
  readonly head: { readonly number: bigint; readonly timestampSeconds: number }
  readonly fees: NetworkFees | NetworkFeeRefusal
  readonly shown: ShownNetworkFee
  /** Balances in smallest units by canonical currency; those that too few endpoints report are left out. */
  readonly inventory: ReadonlyMap<string, bigint>
  /** Numbers of voices (hosts of endpoints): that have reached the head, that must, that are configured. */
  readonly voices: { readonly agreed: number; readonly required: number; readonly configured: number }
}

/** Reads market data of one chain by agreement of its endpoints; for all families but EVM, which contract calls read. */
export interface NetworkReader {
  /** @throws UpstreamUnavailableError when too few endpoints answer */
  read(limits: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<NetworkReading>
}

/** Configuration of a network reader. `feeModel` is of the family's own kind, which is checked at start. */
export type NetworkReaderOptions = {
  readonly client: ChainClient
  readonly depository: string
  /** Network of the family, as the chains file names it; absent: whatever the endpoints agree on. */
  readonly network: string | undefined
  /** The chain's number on the hub; in some families it identifies the chain's first block. */
  readonly hubChainId: string
  /** Contract that pays for the solver, in families with one; in the family's spelling. */
  readonly fillContract: string | undefined
  /** Program that makes and empties deposit addresses, on Solana. */
  readonly depositAddressProgram?: string | undefined
  readonly feeModel: PriorityFeeModel | FeerateModel | EnergyModel | FlatModel
  /** Account whose balances are the inventory; without it `inventory` stays empty. */
  readonly fillWallet: string | undefined
  readonly currencies: readonly ListedCurrency[]
}

/** A currency as configuration lists it. */
export type ListedCurrency = {
  readonly address: string
  readonly decimals: number
  /** Program that keeps the token, on Solana; absent: the usual one. */
  readonly tokenProgram?: string | undefined
}
