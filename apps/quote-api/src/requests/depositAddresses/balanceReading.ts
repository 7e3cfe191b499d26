import {
  balanceOfCall,
  type ContractCall,
  decodeAggregate3,
  MalformedAnswerError,
  multicallRequest,
  NodeError,
  nativeBalanceCall,
  readUintResult,
} from '@causeway/chains'
import type { Hex } from '@causeway/core'
import type { Reading } from '../../chainReadings/readings.ts'
import type { QuotableChain } from '../../pricing/registry.ts'

/** What lies at one address, in smallest units; tokens of which it holds nothing are left out. */
export type HeldBalances = {
  readonly nativeAmount: bigint
  readonly tokens: ReadonlyMap<Hex, bigint>
}

const what = 'aggregate3'

/** All listed currencies of many addresses as of one block, in the order of `addresses`. */
export function balanceReading(
  { config, currencies, quoting }: QuotableChain,
  addresses: readonly Hex[],
  block: bigint,
): Reading<readonly HeldBalances[]> {
  const { multicall3 } = config
  const tokens = [...currencies.values()]
    .filter(({ isNative }) => !isNative)
    .map(({ address }) => quoting.hexAddress(address))
  const callsOf = (address: Hex): readonly ContractCall[] => [
    nativeBalanceCall(multicall3, address),
    ...tokens.map((token) => balanceOfCall(token, address)),
  ]
  const calls = addresses.flatMap(callsOf)
  return {
    calls: [multicallRequest({ multicall3, calls, block: { number: block } })],
    parse: ([answer]) => {
      if (answer === undefined) throw new MalformedAnswerError(what)
      if (!answer.ok) throw new NodeError(answer)
      const amounts = decodeAggregate3(answer.result, calls.length).map(({ success, returnData }) =>
        // A token that refuses to answer holds nothing that could be swept.
        success ? readUintResult(returnData, what) : 0n,
      )
      return addresses.map((_address, index) => {
        const [nativeAmount = 0n, ...held] = amounts.slice(
          index * (tokens.length + 1),
          (index + 1) * (tokens.length + 1),
        )
        const entries = tokens.map((token, at): [Hex, bigint] => [token, held[at] ?? 0n])
        return { nativeAmount, tokens: new Map(entries.filter(([, amount]) => amount > 0n)) }
      })
    },
  }
}

/** What an address held at both of two blocks. */
export function heldAtBoth(one: HeldBalances, other: HeldBalances): HeldBalances {
  const lesser = (a: bigint, b: bigint) => (a < b ? a : b)
  const tokens = [...one.tokens].map(([token, amount]): [Hex, bigint] => [
    token,
    lesser(amount, other.tokens.get(token) ?? 0n),
  ])
  return {
    nativeAmount: lesser(one.nativeAmount, other.nativeAmount),
    tokens: new Map(tokens.filter(([, amount]) => amount > 0n)),
  }
}

export function isEmpty({ nativeAmount, tokens }: HeldBalances): boolean {
  return nativeAmount === 0n && tokens.size === 0
}
