import type { Hex } from '@causeway/core'
import type { ChainEntry, QuoteChain, QuoteFile } from '@causeway/core/config'
import type { VmCodec } from '@causeway/core/encodings'
import type { QuotingFamily } from './quotingFamily.ts'

/**
 * Accounts that must never be paid on one chain, by the address alone, such as contracts of the network or of ours. It
 * is the part of the rule "may be paid" that reads no chain. @source Q-60
 */
export type PayeeRule = {
  /** Label of the account, to stand after "is"; undefined if it may be paid. Accepts any spelling of the address. */
  neverPaid(account: string): string | undefined
  /** True for an address of nobody, for which clients ask prices before a wallet is connected. */
  isBurnt(account: string): boolean
  /** Stands for an account in a price without a wallet; where no address is nobody's, it is what clients send then. */
  readonly nobody: string | undefined
}

/** Configuration of one chain from which its rule is made. */
export type PayeeSettings = {
  readonly codec: VmCodec
  readonly family: Pick<QuotingFamily, 'reserved' | 'burnt' | 'accountOfHex'>
  readonly listed: Pick<ChainEntry, 'id' | 'depository'> &
    Partial<Pick<ChainEntry, 'additionalDepositories' | 'fillContracts' | 'fillPayers'>>
  readonly config: QuoteChain
  readonly file: Pick<QuoteFile, 'fillWallet' | 'prices'>
  /** Account that receives sponsors' top-ups. */
  readonly custody?: string | undefined
}

/** Makes the rule once at start, so that each check is a lookup in a map. */
export function createPayeeRule(settings: PayeeSettings): PayeeRule {
  const { codec, family } = settings
  const spell = (account: string) => codec.spellAddress(account)
  const accountLabels = new Map<string, string>()
  for (const [account, label] of configuredAccounts(settings)) {
    // A contract of the files is 20 bytes of hex, whatever the chain's own spelling is. Families whose accounts are
    // of another length have none.
    const spelled = /^0x[0-9a-f]{40}$/i.test(account) ? family.accountOfHex?.(lowerCase(account)) : account
    if (spelled !== undefined && !accountLabels.has(spell(spelled))) accountLabels.set(spell(spelled), label)
  }
  const burnt = new Set(family.burnt)
  return {
    neverPaid(account) {
      const spelled = spell(account)
      return accountLabels.get(spelled) ?? family.reserved(spelled)
    },
    isBurnt: (account) => burnt.has(spell(account)),
    nobody: family.burnt.find((account) => codec.isAddress(account)) ?? family.burnt[0],
  }
}

// CAST: the form was checked; lower case changes no digit.
const lowerCase = (account: string): Hex => account.toLowerCase() as Hex

/** Every account that the configuration names, with its label. An account's first label is the one that is shown. */
function configuredAccounts({
  listed,
  config,
  file,
  codec,
  custody,
}: PayeeSettings): readonly (readonly [account: string, label: string])[] {
  const { uniswapV3, feeModel } = config
  const accounts: readonly (readonly [string | undefined, string])[] = [
    ...config.currencies
      .filter(({ address }) => address !== codec.nativeCurrency)
      .map(({ address, symbol }) => [address, `the ${symbol} token itself`] as const),
    [config.wrappedNative, 'the contract of the wrapped native coin'],
    ...[listed.depository, ...(listed.additionalDepositories ?? [])].map(
      (depository) => [depository, 'a depository'] as const,
    ),
    [config.fillContract, 'the fill contract, which nobody empties'],
    ...(listed.fillContracts ?? []).map((contract) => [contract, 'a fill contract'] as const),
    [config.cleanupRouter, 'a contract that anybody empties'],
    [config.depositRouter, 'the deposit router'],
    [config.permitRouter?.contract, 'the permit router'],
    [config.permit2Router, 'the permit router'],
    [config.depositAddresses?.contract, 'the contract of deposit addresses'],
    [config.depositAddressProgram, 'the program of deposit addresses'],
    [config.multicall3, 'a contract that anybody empties'],
    [uniswapV3?.swapRouter, 'a router of pools'],
    [uniswapV3?.quoterV2, 'a contract of pools'],
    [uniswapV3?.factory, 'a contract of pools'],
    ...(uniswapV3?.pools ?? []).map(({ address }) => [address, 'a pool'] as const),
    [config.sequencerUptimeFeed, 'a price feed'],
    ['gasPriceOracle' in feeModel ? feeModel.gasPriceOracle : undefined, 'a contract of the network itself'],
    ...file.prices.flatMap(({ feeds, pools }) => [
      ...feeds
        .filter(({ chain }) => chain === listed.id)
        .map(({ address }) => [address, 'a price feed'] as const),
      ...pools.filter(({ chain }) => chain === listed.id).map(({ pool }) => [pool, 'a pool'] as const),
    ]),
    [config.fillWallet ?? file.fillWallet, 'the fill wallet, which pays nobody by paying itself'],
    ...(listed.fillPayers ?? []).map((payer) => [payer, 'a wallet that pays orders'] as const),
    [custody, 'the account that top-ups of sponsors are paid to'],
  ]
  return accounts.flatMap(([account, label]) =>
    account === undefined || account === '' ? [] : [[account, label] as const],
  )
}
