import { type Arguments, type CommandForm, type End, type Program, takeCommandLine } from '@causeway/cli'
import { ConfigurationError, type Hex } from '@causeway/core'
import { isAddress, parseGwei, parseUnits } from 'viem'
import { type FamilyKey, familyPlans, isFamilyKey } from '../../families/familyPlans.ts'
import { type EvmWalletName, evmWallets, isEvmWalletName } from '../../wallets/evmWallets.ts'
import { hyperliquidWallets } from '../../wallets/hyperliquidWallets.ts'
import { solanaWallets } from '../../wallets/solanaWallets.ts'
import { tronWallets } from '../../wallets/tronWallets.ts'
import { type ChainKey, isChainKey } from '../chainPlan.ts'
import { type PriceKey, priceKeys } from '../refreshFeeds.ts'

/** A parsed command of `npm run localnet`. `answer` is in USD with 8 decimals, `amount` in smallest units. */
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

/** Kinds of accounts by name, of the families that have several. */
const familyWallets: Partial<Readonly<Record<FamilyKey, object>>> = {
  solana: solanaWallets,
  tron: tronWallets,
  hyperliquid: hyperliquidWallets,
}

const namesOf = (table: object): string => Object.keys(table).join(', ')

type LocalnetCommand = CommandForm & {
  /** @throws ConfigurationError that names the value and what is right */
  read(args: Arguments): OperatorCommand
}

const blocksMax = 10_000

const commands: readonly LocalnetCommand[] = [
  {
    words: 'prices set',
    about: `Move the feed and the pools of both chains, e.g. ETH/USD 2600: ${priceKeys.join(', ')}`,
    operands: ['pair', 'price'],
    flags: { only: { value: '<feed>', about: 'Leave the pools as they are' } },
    read(args) {
      const price = priceKeys.find((priceKey) => priceKey === args.operand('pair').toUpperCase())
      if (price === undefined) throw invalidValue('<pair>', priceKeys.join(', '))
      const only = args.text('only')
      if (only !== undefined && only !== 'feed') throw invalidValue('--only', 'feed')
      const answer = parseUnits(decimal('<price>', args.operand('price'), { whole: 12, fraction: 8 }), 8)
      return { kind: 'price', price, answer, ...(only !== undefined && { only }) }
    },
  },
  {
    words: 'basefee set',
    about: 'Hold the base fee of base, optimism or hub until it is set again, e.g. base 5gwei',
    operands: ['chain', 'fee'],
    read(args) {
      const chain = chainOf(args)
      const [, amount = '', unit] = /^([0-9.]+)(gwei|wei)$/.exec(args.operand('fee')) ?? []
      const fraction = unit === 'gwei' ? 9 : 0
      const digits = decimal('<fee>', amount, { whole: 12, fraction }, 'a number of gwei or wei, e.g. 5gwei')
      return { kind: 'basefee', chain, baseFeeWei: unit === 'wei' ? BigInt(digits) : parseGwei(digits) }
    },
  },
  {
    words: 'mine',
    about: 'Mine blocks on base, optimism or hub',
    operands: ['chain', '[blocks]'],
    read(args) {
      const text = args.operand('blocks') || '1'
      const blocks = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
      if (blocks < 1 || blocks > blocksMax) throw invalidValue('[blocks]', `a number from 1 to ${blocksMax}`)
      return { kind: 'mine', chain: chainOf(args), blocks }
    },
  },
  {
    words: 'faucet',
    about: 'Give an account 10 native coins per chain, and 10,000 USD of each token',
    operands: ['account'],
    read(args) {
      const account = args.operand('account')
      if (!isAddress(account, { strict: false })) throw invalidValue('<account>', '0x and 40 hex digits')
      // CAST: lower case hex is still hex.
      return { kind: 'faucet', account: account.toLowerCase() as Hex }
    },
  },
  {
    words: 'wallet',
    about: `Make a new account, e.g. base safe. On base and optimism: ${namesOf(evmWallets)}; ${Object.entries(
      familyWallets,
    )
      .map(([family, table]) => `on ${family}: ${namesOf(table)}`)
      .join('; ')}`,
    operands: ['chain', 'kind'],
    read(args) {
      const [chain, wallet] = [args.operand('chain'), args.operand('kind')]
      if (isUserChain(chain)) {
        if (!isEvmWalletName(wallet)) throw invalidValue('<kind>', namesOf(evmWallets))
        return { kind: 'wallet', chain, wallet }
      }
      const kinds = isFamilyKey(chain) ? familyWallets[chain] : undefined
      if (!isFamilyKey(chain) || kinds === undefined)
        throw invalidValue('<chain>', `base, optimism, ${namesOf(familyWallets)}`)
      if (!Object.hasOwn(kinds, wallet)) throw invalidValue('<kind>', namesOf(kinds))
      return { kind: 'familyWallet', family: chain, wallet }
    },
  },
  {
    words: 'deposit',
    about:
      'Deposit USDC of the first user on base or optimism, by default 25, or the own coin of another family; prints the transaction to attest',
    operands: ['chain', '[amount]'],
    read(args) {
      const chain = args.operand('chain')
      const text = args.operand('amount')
      if (isUserChain(chain))
        return { kind: 'deposit', chain, amount: parseUnits(amountOf(text || '25', 6), 6) }
      if (!isFamilyKey(chain)) throw invalidValue('<chain>', `base, optimism, ${namesOf(familyPlans)}`)
      const { decimals, firstAmount } = familyPlans[chain]
      const amount = text === '' ? firstAmount : parseUnits(amountOf(text, decimals), decimals)
      if (amount === 0n) throw invalidValue('[amount]', 'more than nothing')
      return { kind: 'familyDeposit', family: chain, amount }
    },
  },
  {
    words: 'families',
    about: 'Tell where the stand-ins of other families listen, and a deposit of each to attest',
    read: () => ({ kind: 'families' }),
  },
  {
    words: 'silence',
    about: 'Have the stand-in of a family answer nobody until the next start',
    operands: ['family'],
    read(args) {
      const family = args.operand('family')
      if (!isFamilyKey(family)) throw invalidValue('<family>', namesOf(familyPlans))
      return { kind: 'silence', family }
    },
  },
  {
    words: 'submit',
    about: "Bring an oracle's answer to the hub",
    operands: ['file'],
    read: (args) => ({ kind: 'submit', file: args.operand('file') }),
  },
]

const program: Program<LocalnetCommand> = {
  name: 'npm run localnet --',
  about: 'Changes the network that npm start runs.',
  commands,
  groups: { prices: 'Prices of feeds and pools', basefee: 'Fees of blocks' },
}

/** Parses the words of one operator command. @throws ConfigurationError for an invalid value */
export function parseOperatorCommand(words: readonly string[], end?: End): OperatorCommand {
  const { command, args } = takeCommandLine(words, program, end)
  return command.read(args)
}

const invalidValue = (name: string, expected: string) =>
  new ConfigurationError(`${name}: expected ${expected}.`)

function chainOf(args: Arguments): ChainKey {
  const chain = args.operand('chain')
  if (!isChainKey(chain)) throw invalidValue('<chain>', 'base, optimism or hub')
  return chain
}

const isUserChain = (chain: string): chain is 'base' | 'optimism' => chain === 'base' || chain === 'optimism'

const amountOf = (text: string, fraction: number) => decimal('[amount]', text, { whole: 9, fraction })

/** Checks a decimal number. @param digits the most before and behind the point @throws ConfigurationError */
function decimal(
  name: string,
  text: string,
  digits: { readonly whole: number; readonly fraction: number },
  expected = `a number with at most ${digits.fraction} decimals`,
): string {
  const [whole = '', fraction, ...more] = text.split('.')
  const isFit = (part: string, most: number) => /^[0-9]+$/.test(part) && part.length <= most
  if (!isFit(whole, digits.whole) || more.length > 0) throw invalidValue(name, expected)
  if (fraction !== undefined && !isFit(fraction, digits.fraction)) throw invalidValue(name, expected)
  return text
}
