// Bodies of /price and /quote on the local network, by what is special about them.
import type { TestNetwork, TokenSymbol } from '@causeway/localnet'
import { nativeAddress, userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { Answered, Asked, Session } from '../support/session.ts'

export type LocalCurrency = TokenSymbol | 'native' | 'wrapped'

export type Wish = {
  readonly from?: 'base' | 'optimism'
  readonly to?: 'base' | 'optimism'
  readonly pay?: LocalCurrency
  readonly receive?: LocalCurrency
  /** Smallest units; default: 25 of the currency that the trade type measures. */
  readonly amount?: string
  readonly tradeType?: 'EXACT_INPUT' | 'EXACT_OUTPUT' | 'EXPECTED_OUTPUT'
  readonly userIndex?: number
  /** Members beside these. */
  readonly more?: object
}

export type Case = { readonly name: string; readonly wish: Wish }

const usual: Readonly<Record<LocalCurrency, string>> = {
  USDC: '25000000',
  USDX: '25000000',
  TIDE: '6000000000000000000',
  native: '10000000000000000',
  wrapped: '10000000000000000',
}

/** By default a USDC bridge from base to optimism by the first user. */
export function bodyOf(network: TestNetwork, wish: Wish): object {
  const { from = 'base', to = 'optimism', pay = 'USDC', receive = pay, tradeType = 'EXACT_INPUT' } = wish
  const { userIndex = 0, more = {} } = wish
  const user = userOf(network, userIndex).address
  return {
    user,
    recipient: user,
    originChainId: network.chains[from].chainId,
    destinationChainId: network.chains[to].chainId,
    originCurrency: addressOf(network, from, pay),
    destinationCurrency: addressOf(network, to, receive),
    amount: wish.amount ?? usual[tradeType === 'EXACT_INPUT' ? pay : receive],
    tradeType,
    ...more,
  }
}

export function addressOf(network: TestNetwork, chain: 'base' | 'optimism', currency: LocalCurrency): string {
  const { tokens, wrappedNative } = network.deployment[chain]
  if (currency === 'native') return nativeAddress
  return currency === 'wrapped' ? wrappedNative : tokens[currency]
}

/** Somebody who has nothing; whoever is asked about in vain is such a one too. */
export function poorUser(index: number): string {
  return `0x5f05${index.toString(16).padStart(36, '0')}`
}

/** True once the price includes the balance of a user who has one. */
const knowsBalance = ({ status, body }: Answered) => {
  const text = JSON.stringify(body)
  const isPriced = status === 200 && text.includes('"timeEstimate":')
  return !isPriced || text.includes('"userBalance":') || /"sender":"0x0000/.test(text)
}

/**
 * Asks for a price or a quote once the service has read what the user has: a slow node is not waited for, and a
 * quote without these facts is another quote.
 */
export async function askPriced(session: Session, asked: Asked): Promise<Answered> {
  const { name, body, headers } = asked
  const question = {
    name,
    path: '/price',
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers }),
  }
  await session.prepare({ ...question, until: knowsBalance })
  return session.ask(asked)
}
