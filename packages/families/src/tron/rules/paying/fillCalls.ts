import type { Hex } from '@causeway/core'
import { tronHexAddress as accountOf, createTronCodec } from '@causeway/core/encodings'
import { contractInterface } from '../../../ethereum/rules/contractInterface.ts'
import { fillContractCalls } from '../../../ethereum/rules/fillContract.ts'

const token = contractInterface(['function approve(address spender, uint256 amount)'])

/** A call of a contract by the fill wallet. */
export type ContractCall = {
  /** Signature of the function, which nodes need to simulate the call. */
  readonly selector: string
  /** Base58. */
  readonly contract: string
  readonly data: Hex
  /** Sun, millionths of a TRX, that are sent with it. */
  readonly coin: bigint
}

/** The fill contract, and the id that it records as paid or closed. */
export type PaidThrough = {
  /** Base58. */
  readonly fillContract: string
  readonly id: Hex
}

/**
 * Call that pays what an order owes, once for `id`. The order id follows the arguments, by which oracles attest it.
 * @param paid.deadlineSeconds Unix seconds; a later block pays nothing
 */
export function fillPayment(
  { fillContract: contract, id }: PaidThrough,
  paid: {
    readonly orderId: Hex
    readonly deadlineSeconds: bigint
    readonly payments: readonly {
      readonly recipient: string
      readonly currency: string
      readonly amount: bigint
    }[]
  },
): ContractCall {
  const { nativeCurrency } = createTronCodec()
  const { orderId, deadlineSeconds, payments } = paid
  const coins = payments.filter(({ currency }) => currency === nativeCurrency)
  const tokens = payments.filter(({ currency }) => currency !== nativeCurrency)
  const data = fillContractCalls.encode('pay', [
    id,
    deadlineSeconds,
    coins.map(({ recipient, amount }) => ({ to: accountOf(recipient), amount })),
    tokens.map(({ currency, recipient, amount }) => ({
      token: accountOf(currency),
      to: accountOf(recipient),
      amount,
    })),
  ])
  return {
    selector: 'pay(bytes32,uint256,(address,uint256)[],(address,address,uint256)[])',
    contract,
    data: `${data}${orderId.slice(2)}`,
    coin: coins.reduce((sum, { amount }) => sum + amount, 0n),
  }
}

/** Call after which the wallet can no longer pay the id. */
export function fillClosing({ fillContract: contract, id }: PaidThrough): ContractCall {
  return { selector: 'close(bytes32)', contract, data: fillContractCalls.encode('close', [id]), coin: 0n }
}

/** Call for the contract's record of an id of one wallet: 0 open, 1 paid, 2 closed. */
export function fillState({ fillContract: contract, id }: PaidThrough, wallet: string): ContractCall {
  const data = fillContractCalls.encode('stateOf', [accountOf(wallet), id])
  return { selector: 'stateOf(address,bytes32)', contract, data, coin: 0n }
}

/** Call that lets `spender` take an amount of a token. */
export function tokenAllowance(currency: string, spender: string, amount: bigint): ContractCall {
  const data = token.encode('approve', [accountOf(spender), amount])
  return { selector: 'approve(address,uint256)', contract: currency, data, coin: 0n }
}
