import { ethereumCodec, type Hex } from '@causeway/core'
import {
  balanceOfCall,
  type ContractCall,
  decodeAggregate3,
  multicallRequest,
  nativeBalanceCall,
  readUintResult,
} from '@causeway/families'
import { MalformedAnswerError, NodeError } from '@causeway/rpc'
import type { Reading } from '../../chainReadings/readings.ts'

/** Balances of one address by currency, in smallest units; zero balances are left out. */
export type HeldBalances = ReadonlyMap<string, bigint>

const functionName = 'aggregate3'

/** The native coin and tokens of many addresses as of one block, in the order of `addresses`. */
export function balanceReading(
  { multicall3, tokens }: { readonly multicall3: Hex; readonly tokens: readonly Hex[] },
  addresses: readonly Hex[],
  block: bigint,
): Reading<readonly HeldBalances[]> {
  const { nativeCurrency } = ethereumCodec
  const callsOf = (address: Hex): readonly ContractCall[] => [
    nativeBalanceCall(multicall3, address),
    ...tokens.map((token) => balanceOfCall(token, address)),
  ]
  const calls = addresses.flatMap(callsOf)
  return {
    calls: [multicallRequest({ multicall3, calls, block: { number: block } })],
    parse: ([answer]) => {
      if (answer === undefined) throw new MalformedAnswerError(functionName)
      if (!answer.ok) throw new NodeError(answer)
      const amounts = decodeAggregate3(answer.result, calls.length).map(({ success, returnData }) =>
        // A token that refuses to answer holds nothing that could be swept.
        success ? readUintResult(returnData, functionName) : 0n,
      )
      return addresses.map((_address, index) => {
        const held = amounts.slice(index * (tokens.length + 1), (index + 1) * (tokens.length + 1))
        return omitZeros([nativeCurrency, ...tokens].map((currency, at) => [currency, held[at] ?? 0n]))
      })
    },
  }
}

/** Balance that an address held at both of two blocks. */
export function heldAtBoth(one: HeldBalances, other: HeldBalances): HeldBalances {
  const lesser = (a: bigint, b: bigint) => (a < b ? a : b)
  return omitZeros(
    [...one].map(([currency, amount]) => [currency, lesser(amount, amountOf(other, currency))]),
  )
}

export function amountOf(held: HeldBalances, currency: string): bigint {
  return held.get(currency) ?? 0n
}

/** All but `currency`, the native coin first. */
export function othersOf(held: HeldBalances, currency: string): readonly (readonly [string, bigint])[] {
  return [...held].filter(([other]) => other !== currency)
}

export function isEmpty(held: HeldBalances): boolean {
  return held.size === 0
}

function omitZeros(amounts: readonly (readonly [string, bigint])[]): HeldBalances {
  return new Map(amounts.filter(([, amount]) => amount > 0n))
}
