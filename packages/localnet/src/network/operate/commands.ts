import { ConfigurationError, type Hex } from '@causeway/core'
import { isAddress, parseGwei, parseUnits } from 'viem'
import { type FamilyKey, familyPlans, isFamilyKey } from '../../families/familyPlans.ts'
import { type EvmWalletName, evmWallets, isEvmWalletName } from '../../wallets/evmWallets.ts'
import { hyperliquidWallets } from '../../wallets/hyperliquidWallets.ts'
import { solanaWallets } from '../../wallets/solanaWallets.ts'
import { tronWallets } from '../../wallets/tronWallets.ts'
import { type ChainKey, isChainKey } from '../chainPlan.ts'
import { type PriceKey, priceKeys } from '../refreshFeeds.ts'

export type OperatorCommand =
  | { readonly kind: 'price'; readonly price: PriceKey; readonly answer: bigint; readonly only?: 'feed' }
  | { readonly kind: 'basefee'; readonly chain: ChainKey; readonly baseFeeWei: bigint }
  | { readonly kind: 'mine'; readonly chain: ChainKey; readonly blocks: number }
  | { readonly kind: 'faucet'; readonly account: Hex }
  | { readonly kind: 'wallet'; readonly chain: 'base' | 'optimism'; readonly wallet: EvmWalletName }
  | { readonly kind: 'familyWallet'; readonly family: FamilyKey; readonly wallet: string }
  | { readonly kind: 'deposit'; readonly chain: 'base' | 'optimism'; readonly amount: bigint }
  | { readonly kind: 'familyDeposit'; readonly family: FamilyKey; readonly amount: bigint }
  | { readonly kind: 'families' }
  | { readonly kind: 'silence'; readonly family: FamilyKey }
  | { readonly kind: 'submit'; readonly file: string }

/** Kinds of accounts in families whose accounts are not all alike. */
const familyWallets: Partial<Readonly<Record<FamilyKey, object>>> = {
  solana: solanaWallets,
  tron: tronWallets,
  hyperliquid: hyperliquidWallets,
}

const namesOf = (table: object): string => Object.keys(table).join(', ')

export const operatorUsage = `npm run localnet -- prices set ETH/USD 2600 [--only feed]
                 ${priceKeys.join(', ')}: moves the feed and the pools of both chains
npm run localnet -- basefee set base 5gwei
                 base, optimism or hub; gwei or wei, held until set again
npm run localnet -- mine base 3
npm run localnet -- faucet 0x…
                 10 native coins per chain, 10,000 USD of each token
npm run localnet -- wallet base safe
                 a new account, on base and optimism: ${namesOf(evmWallets)};
${Object.entries(familyWallets)
  .map(([family, table]) => `                 on ${family}: ${namesOf(table)}`)
  .join(';\n')}
npm run localnet -- deposit base 25
                 the first user deposits so much USDC; prints the transaction to attest
npm run localnet -- deposit solana 2.5
                 somebody deposits so much SOL, or on bitcoin, tron, hyperliquid or lighter its own coin
npm run localnet -- families
                 where the stand-ins of these chains listen, and a deposit of each to attest
npm run localnet -- silence solana
                 its stand-in answers nobody until the next start
npm run localnet -- submit attestation.json
                 brings an oracle's answer to the hub`

const blocksMax = 10_000

type Parser = (words: readonly string[]) => OperatorCommand | undefined

const parsers: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  ['prices', parsePrice],
  ['basefee', parseBaseFee],
  ['mine', parseMine],
  ['faucet', parseFaucet],
  ['wallet', parseWallet],
  ['deposit', parseDeposit],
  ['families', (words) => (words.length === 0 ? { kind: 'families' } : undefined)],
  ['silence', parseSilence],
  ['submit', parseSubmit],
])

/** Understands the words of one operator command. @throws ConfigurationError with the usage */
export function parseOperatorCommand(words: readonly string[]): OperatorCommand {
  const [first = '', ...rest] = words
  const command = parsers.get(first)?.(rest)
  if (command === undefined) {
    throw new ConfigurationError(`not understood: ${words.join(' ') || '(nothing)'}\n${operatorUsage}`)
  }
  return command
}

function parsePrice([verb, key, value, ...options]: readonly string[]): OperatorCommand | undefined {
  const price = priceKeys.find((candidate) => candidate === key?.toUpperCase())
  if (verb !== 'set' || price === undefined || !/^[0-9]{1,12}(\.[0-9]{1,8})?$/.test(value ?? ''))
    return undefined
  const answer = parseUnits(value ?? '', 8)
  const onlyFeed = options.join(' ') === '--only feed'
  if (options.length > 0 && !onlyFeed) return undefined
  return { kind: 'price', price, answer, ...(onlyFeed && { only: 'feed' }) }
}

function parseBaseFee([verb, chain, amount, ...more]: readonly string[]): OperatorCommand | undefined {
  const match = /^([0-9]{1,12})(\.[0-9]{1,9})?(gwei|wei)$/.exec(amount ?? '')
  if (verb !== 'set' || chain === undefined || !isChainKey(chain) || match === null || more.length > 0) {
    return undefined
  }
  const [, whole = '', fraction = '', unit] = match
  if (unit === 'wei')
    return fraction === '' ? { kind: 'basefee', chain, baseFeeWei: BigInt(whole) } : undefined
  return { kind: 'basefee', chain, baseFeeWei: parseGwei(`${whole}${fraction}`) }
}

function parseMine([chain, count = '1', ...more]: readonly string[]): OperatorCommand | undefined {
  if (chain === undefined || !isChainKey(chain) || !/^[0-9]{1,5}$/.test(count) || more.length > 0) {
    return undefined
  }
  const blocks = Number(count)
  return blocks >= 1 && blocks <= blocksMax ? { kind: 'mine', chain, blocks } : undefined
}

function parseFaucet([account, ...more]: readonly string[]): OperatorCommand | undefined {
  const isOne = account !== undefined && isAddress(account, { strict: false }) && more.length === 0
  // CAST: lower case hex is still hex.
  return isOne ? { kind: 'faucet', account: account.toLowerCase() as Hex } : undefined
}

const isUserChain = (chain: string | undefined): chain is 'base' | 'optimism' =>
  chain === 'base' || chain === 'optimism'

function parseWallet([chain, name = '', ...more]: readonly string[]): OperatorCommand | undefined {
  if (chain === undefined || more.length > 0) return undefined
  if (isUserChain(chain)) return isEvmWalletName(name) ? { kind: 'wallet', chain, wallet: name } : undefined
  const isKnown = isFamilyKey(chain) && Object.hasOwn(familyWallets[chain] ?? {}, name)
  return isKnown ? { kind: 'familyWallet', family: chain, wallet: name } : undefined
}

function parseDeposit(words: readonly string[]): OperatorCommand | undefined {
  const [chain, amount = '25', ...more] = words
  if (isFamilyKey(chain ?? '')) return parseFamilyDeposit(words)
  if (!isUserChain(chain) || !/^[0-9]{1,9}(\.[0-9]{1,6})?$/.test(amount) || more.length > 0) return undefined
  return { kind: 'deposit', chain, amount: parseUnits(amount, 6) }
}

function parseFamilyDeposit([family = '', text, ...more]: readonly string[]): OperatorCommand | undefined {
  if (!isFamilyKey(family) || more.length > 0) return undefined
  const { decimals, firstAmount } = familyPlans[family]
  if (text === undefined) return { kind: 'familyDeposit', family, amount: firstAmount }
  if (!new RegExp(`^[0-9]{1,9}(\\.[0-9]{1,${decimals}})?$`).test(text)) return undefined
  const amount = parseUnits(text, decimals)
  return amount === 0n ? undefined : { kind: 'familyDeposit', family, amount }
}

function parseSilence([family = '', ...more]: readonly string[]): OperatorCommand | undefined {
  return isFamilyKey(family) && more.length === 0 ? { kind: 'silence', family } : undefined
}

function parseSubmit([file, ...more]: readonly string[]): OperatorCommand | undefined {
  return file === undefined || file === '' || more.length > 0 ? undefined : { kind: 'submit', file }
}
