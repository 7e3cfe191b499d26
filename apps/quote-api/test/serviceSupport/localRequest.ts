import type { Hex } from '@causeway/core'
import { chainPlans, type LocalAccount, type TestNetwork, type TokenSymbol } from '@causeway/localnet'

/** A currency by name: the native one is the all-zero address on every EVM chain. */
export type LocalCurrency = TokenSymbol | 'native' | 'wrapped'
export type UserChain = 'base' | 'optimism'

export type LocalRequest = {
  readonly from?: UserChain
  readonly to?: UserChain
  readonly pay?: LocalCurrency
  readonly receive?: LocalCurrency
  readonly amount: bigint
  /** Members that a request has beside these. */
  readonly more?: object
}

export function userOf(network: Pick<TestNetwork, 'keys'>, index: number): LocalAccount {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`the network has no user ${index}`)
  return account
}

/** Body of /price and /quote in a local network; by default a USDC bridge from base to optimism by user 0. */
export function localRequest(
  network: Pick<TestNetwork, 'keys' | 'deployment'>,
  request: LocalRequest,
): object {
  const { from = 'base', to = 'optimism', pay = 'USDC', receive = pay, amount, more = {} } = request
  const user = userOf(network, 0).address
  return {
    user,
    recipient: user,
    originChainId: chainPlans[from].chainId,
    destinationChainId: chainPlans[to].chainId,
    originCurrency: currencyAddress(network, from, pay),
    destinationCurrency: currencyAddress(network, to, receive),
    amount: amount.toString(),
    tradeType: 'EXACT_INPUT',
    ...more,
  }
}

export const nativeAddress: Hex = `0x${'0'.repeat(40)}`

export function currencyAddress(
  network: Pick<TestNetwork, 'deployment'>,
  chain: UserChain,
  currency: LocalCurrency,
): Hex {
  const { tokens, wrappedNative } = network.deployment[chain]
  if (currency === 'native') return nativeAddress
  return currency === 'wrapped' ? wrappedNative : tokens[currency]
}
