import type { Hex } from '@causeway/core'
import { type RpcCall, toQuantity } from '@causeway/rpc'
import type { SimulatedCall } from '../../shared/quotingChain.ts'

/** Storage that is replaced while calls are simulated, by contract and slot. */
export type StateOverrides = Readonly<Record<Hex, { readonly stateDiff: Readonly<Record<Hex, Hex>> }>>

/** Calls to simulate, and on which state. */
export type Simulation = {
  readonly from: Hex
  readonly calls: readonly SimulatedCall[]
  readonly overrides?: StateOverrides | undefined
  /** Gas price of the sender, which contracts can read; absent: 0. */
  readonly gasPriceWei?: bigint | undefined
  /** Number of the block whose state they run on; undefined: the newest of each endpoint. */
  readonly block: bigint | undefined
  /** Gas units that all calls together may use. */
  readonly gasMax: bigint
  readonly timeoutMs: number
}

/** @source execution-apis */
export const simulateMethod = 'eth_simulateV1'

/** The calls one after another in one hypothetical block, whose gas limit is `gasMax`. */
export function simulationRequest(simulation: Simulation): RpcCall {
  const { from, calls, gasMax, overrides } = simulation
  const block = {
    blockOverrides: { gasLimit: toQuantity(gasMax) },
    stateOverrides: { ...balanceOverride(simulation), ...overrides },
    // A call without its own gas limit may use the gas that the block has left.
    calls: calls.map((call) => transactionOf(from, call, simulation)),
  }
  // Without validation, nodes check neither the sender's nonce nor that its price covers the base fee.
  const options = { blockStateCalls: [block], validation: false }
  return { method: simulateMethod, params: [options, blockTag(simulation.block)] }
}

/** An estimate of each call by itself. */
export function estimateRequests(simulation: Simulation): readonly RpcCall[] {
  const { from, calls, gasMax, block, overrides } = simulation
  return calls.map((call) => ({
    method: 'eth_estimateGas',
    params: [
      { ...transactionOf(from, call, simulation), gas: toQuantity(gasMax) },
      blockTag(block),
      { ...balanceOverride(simulation), ...overrides },
    ],
  }))
}

function blockTag(number: bigint | undefined): string {
  return number === undefined ? 'latest' : toQuantity(number)
}

function transactionOf(
  from: Hex,
  { to, value, data }: SimulatedCall,
  { gasPriceWei }: Pick<Simulation, 'gasPriceWei'>,
) {
  const call = { from, to, value: toQuantity(value), data }
  if (gasPriceWei === undefined) return call
  const price = toQuantity(gasPriceWei)
  // The tip fills the gap to the base fee, so that contracts read exactly this price.
  return { ...call, maxFeePerGas: price, maxPriorityFeePerGas: price }
}

/** A balance of the sender that pays the calls' values and gas. */
function balanceOverride({ from, calls, gasMax, gasPriceWei = 0n }: Simulation) {
  const balance = calls.reduce((sum, { value }) => sum + value + gasMax * gasPriceWei, 0n)
  return { [from]: { balance: toQuantity(balance) } }
}
