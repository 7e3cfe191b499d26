import type { Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { readUintResult } from '../contracts/abiReader.ts'
import { balanceOfCall, nativeBalanceCall } from '../contracts/erc20Calls.ts'
import { type ContractCall, decodeAggregate3, multicallRequest } from '../contracts/multicall.ts'
import { type Reading, resultOf } from './chainReadings.ts'

const functionName = 'aggregate3'

/** The native coin and tokens of many addresses as of one block, in the order of `addresses`. */
export function balanceReading(
  { multicall3, tokens }: { readonly multicall3: Hex; readonly tokens: readonly Hex[] },
  addresses: readonly Hex[],
  block: bigint,
): Reading<readonly ReadonlyMap<string, bigint>[]> {
  const { nativeCurrency } = ethereumCodec
  const callsOf = (address: Hex): readonly ContractCall[] => [
    nativeBalanceCall(multicall3, address),
    ...tokens.map((token) => balanceOfCall(token, address)),
  ]
  const calls = addresses.flatMap(callsOf)
  return {
    calls: [multicallRequest({ multicall3, calls, block: { number: block } })],
    parse: ([answer]) => {
      const amounts = decodeAggregate3(resultOf(answer), calls.length).map(({ success, returnData }) =>
        // A token that does not tell a balance cannot be swept, so it counts as 0.
        success ? readUintResult(returnData, functionName) : 0n,
      )
      return addresses.map((_address, index) => {
        const currencies = [nativeCurrency, ...tokens]
        const held = amounts.slice(index * currencies.length, (index + 1) * currencies.length)
        return withoutZeros(currencies.map((currency, position) => [currency, held[position] ?? 0n]))
      })
    },
  }
}

function withoutZeros(amounts: readonly (readonly [string, bigint])[]): ReadonlyMap<string, bigint> {
  return new Map(amounts.filter(([, amount]) => amount > 0n))
}
