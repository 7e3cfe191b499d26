import type { Hex } from '@causeway/core'
import { encodeFunctionData, maxUint256 } from 'viem'
import { tokenAbi } from '../contracts/abis.generated.ts'
import type { TokenSymbol } from '../contracts/deployment.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import type { Grant } from './funding.ts'

export type TokenAddresses = Readonly<Record<TokenSymbol, Hex>>

const symbols: readonly TokenSymbol[] = ['USDC', 'USDX', 'TIDE']

/** Gives native coin to accounts that have none. */
export async function fundNative(chain: LocalChain, grants: readonly Grant[]): Promise<void> {
  const balances = await Promise.all(
    grants.map(({ account: { address } }) => chain.client.getBalance({ address })),
  )
  await Promise.all(
    grants
      .filter((_, index) => balances[index] === 0n)
      .map(({ account: { address }, nativeWei }) => chain.node.setBalance({ address, value: nativeWei })),
  )
}

/** Mints all grants of a token in one transaction, once: a token that has a supply is left alone. */
export async function mintTokens(
  chain: LocalChain,
  owner: LocalAccount,
  { tokens, grants }: { readonly tokens: TokenAddresses; readonly grants: readonly Grant[] },
): Promise<void> {
  const supplies = await Promise.all(
    symbols.map((symbol) =>
      chain.client.readContract({ address: tokens[symbol], abi: tokenAbi, functionName: 'totalSupply' }),
    ),
  )
  const unminted = symbols.filter((_, index) => supplies[index] === 0n)
  await chain.send(
    owner,
    unminted.map((symbol) => ({
      what: `mint of ${symbol}`,
      to: tokens[symbol],
      data: encodeFunctionData({
        abi: tokenAbi,
        functionName: 'mint',
        args: [
          grants
            .filter((grant) => grant.tokens[symbol] > 0n)
            .map((grant) => ({ to: grant.account.address, amount: grant.tokens[symbol] })),
        ],
      }),
    })),
  )
}

/** Lets `spender` move all tokens of `holder`, as the fill contract must for the fill wallet. */
export async function approveAll(
  chain: LocalChain,
  holder: LocalAccount,
  { tokens, spender }: { readonly tokens: TokenAddresses; readonly spender: Hex },
): Promise<void> {
  const allowances = await Promise.all(
    symbols.map((symbol) =>
      chain.client.readContract({
        address: tokens[symbol],
        abi: tokenAbi,
        functionName: 'allowance',
        args: [holder.address, spender],
      }),
    ),
  )
  await chain.send(
    holder,
    symbols
      .filter((_, index) => allowances[index] === 0n)
      .map((symbol) => ({
        what: `approval of ${symbol}`,
        to: tokens[symbol],
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, maxUint256] }),
      })),
  )
}
