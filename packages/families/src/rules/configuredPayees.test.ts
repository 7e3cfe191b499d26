// Goal: every account that the configuration names is kept from being paid, and is called what it is. Attacks: a payment
// into a contract that anybody empties, or into the solver's own accounts, which would be lost or pay nobody.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { quoteFileSchema } from '@causeway/core/config'
import { createTronCodec, ethereumCodec, tronAddress } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { quotingFamilies } from '../registry/quotingFamilies.ts'
import { createPayeeRule, type PayeeSettings } from './payeeRule.ts'

const shipped: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../configs/quote.mainnets.prod.json'), 'utf8').replaceAll(
    /"\$[A-Z_]+"/g,
    `"0x${'f0'.repeat(20)}"`,
  ),
)
const file = quoteFileSchema.parse(shipped)
const [chain] = Object.values(file.chains)
const [price] = file.prices
const [currency] = chain?.currencies ?? []
const [feed] = price?.feeds ?? []
const family = quotingFamilies['ethereum-vm']
if (!chain || !price || !currency || !feed || !family || chain.feeModel.kind !== 'eip1559')
  throw new Error('the shipped file quotes Ethereum')
const { feeModel } = chain

const account = (number: number) => `0x${number.toString(16).padStart(2, '0').repeat(20)}` as const
const hash = `0x${'a1'.repeat(32)}` as const
const [token, coin] = [account(0x10), ethereumCodec.nativeCurrency]

/** Every setting that names an account of chain `a`, each with an account of its own. */
const full: PayeeSettings = {
  codec: ethereumCodec,
  family,
  listed: {
    id: 'a',
    depository: account(0x20),
    additionalDepositories: [account(0x21)],
    fillContracts: [account(0x22)],
    fillPayers: [account(0x23)],
  },
  config: {
    ...chain,
    currencies: [
      { ...currency, address: coin, symbol: 'ETH' },
      { ...currency, address: token, symbol: 'TKN' },
    ],
    wrappedNative: account(0x30),
    fillContract: account(0x31),
    cleanupRouter: account(0x32),
    depositRouter: account(0x33),
    permitRouter: { contract: account(0x34), depositCodeHash: hash },
    permit2Router: account(0x35),
    depositAddresses: { contract: account(0x36), sweepCodeHash: hash },
    depositAddressProgram: account(0x37),
    multicall3: account(0x38),
    sequencerUptimeFeed: account(0x39),
    fillWallet: account(0x3a),
    feeModel: { ...feeModel, gasPriceOracle: account(0x3b) },
    uniswapV3: {
      swapRouter: account(0x40),
      quoterV2: account(0x41),
      factory: account(0x42),
      pools: [{ address: account(0x43), token0: token, token1: token, feePips: 500, tickSpacing: 10 }],
      fallbackFeeTiers: [],
      source: '',
    },
  },
  file: {
    fillWallet: account(0x50),
    prices: [
      {
        ...price,
        feeds: [
          { ...feed, chain: 'a', address: account(0x51) },
          { ...feed, chain: 'b', address: account(0x52) },
        ],
        pools: [
          { chain: 'a', pool: account(0x53), token },
          { chain: 'b', pool: account(0x54), token },
        ],
      },
    ],
  },
  custody: account(0x55),
}
const labelOf = (settings: PayeeSettings, address: string) => createPayeeRule(settings).neverPaid(address)
const withConfig = (change: Partial<PayeeSettings['config']>): PayeeSettings => ({
  ...full,
  config: { ...full.config, ...change },
})

describe('Q-60: nothing is paid to', () => {
  test.each<[string, string]>([
    [token, 'the TKN token itself'],
    [account(0x20), 'a depository'],
    [account(0x21), 'a depository'],
    [account(0x22), 'a fill contract'],
    [account(0x23), 'a wallet that pays orders'],
    [account(0x30), 'the contract of the wrapped native coin'],
    [account(0x31), 'the fill contract, which nobody empties'],
    [account(0x32), 'a contract that anybody empties'],
    [account(0x33), 'the deposit router'],
    [account(0x34), 'the permit router'],
    [account(0x35), 'the permit router'],
    [account(0x36), 'the contract of deposit addresses'],
    [account(0x37), 'the program of deposit addresses'],
    [account(0x38), 'a contract that anybody empties'],
    [account(0x39), 'a price feed'],
    [account(0x3a), 'the fill wallet, which pays nobody by paying itself'],
    [account(0x3b), 'a contract of the network itself'],
    [account(0x40), 'a router of pools'],
    [account(0x41), 'a contract of pools'],
    [account(0x42), 'a contract of pools'],
    [account(0x43), 'a pool'],
    [account(0x51), 'a price feed'],
    [account(0x53), 'a pool'],
    [account(0x55), 'the account that top-ups of sponsors are paid to'],
  ])('%s, %s', (address, label) => {
    expect(labelOf(full, address)).toBe(label)
    expect(labelOf(full, address.toUpperCase().replace('0X', '0x'))).toBe(label)
  })

  test.each([
    ['a feed of another chain', account(0x52)],
    ['a pool of another chain', account(0x54)],
    ['the wallet of the file where the chain has its own', account(0x50)],
    ['the zero address, which stands for the coin and is nobody', coin],
    ['anybody else', account(0x99)],
  ])('but not to %s', (_who, address) => {
    expect(labelOf(full, address)).toBeUndefined()
  })
})

test('the wallet of the file is the one that fills where the chain names none', () => {
  expect(labelOf(withConfig({ fillWallet: undefined }), account(0x50))).toMatch(/^the fill wallet/)
})

test('an account with two tasks is called by the first', () => {
  const settings = withConfig({ wrappedNative: token, multicall3: account(0x33) })
  expect(labelOf(settings, token)).toBe('the TKN token itself')
  expect(labelOf(settings, account(0x33))).toBe('the deposit router')
})

test('what is not set keeps nobody from being paid', () => {
  const { currencies } = full.config
  const bare: PayeeSettings = {
    ...full,
    listed: { id: 'a', depository: '' },
    config: {
      ...full.config,
      currencies: currencies.slice(0, 1),
      feeModel,
      permitRouter: undefined,
      depositAddresses: undefined,
      uniswapV3: undefined,
    },
    custody: undefined,
  }
  for (const number of [0x20, 0x21, 0x22, 0x23, 0x34, 0x36, 0x3b, 0x40, 0x41, 0x42, 0x43, 0x55])
    expect(labelOf(bare, account(number))).toBeUndefined()
  expect(labelOf(bare, '')).toBeUndefined()
})

describe('a contract of the files is spelled as its family spells accounts', () => {
  const tron = quotingFamilies['tron-vm']
  const solana = quotingFamilies['solana-vm']
  if (tron === undefined || solana === undefined) throw new Error('both are quoted')

  test('where these have 20 bytes', () => {
    const onTron: PayeeSettings = {
      ...withConfig({ currencies: [], fillContract: `0x${'AB'.repeat(20)}` }),
      codec: createTronCodec(),
      family: tron,
      listed: { id: 'a', depository: 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN' },
    }
    expect(labelOf(onTron, tronAddress(`0x${'ab'.repeat(20)}`))).toMatch(/^the fill contract/)
    expect(labelOf(onTron, 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN')).toBe('a depository')
  })

  test('and names no account where they have others', () => {
    const { accountOfHex: _accountOfHex, ...without } = family
    expect(labelOf({ ...full, family: without }, account(0x33))).toBeUndefined()
    // A longer one is no contract, but an account or token of the family itself.
    for (const address of [`${token}10`, `1${token}`]) {
      const settings = withConfig({ currencies: [{ ...currency, address, symbol: 'TKN' }] })
      expect(labelOf({ ...settings, family: without }, address)).toBe('the TKN token itself')
    }
  })
})

describe('a price without a wallet is asked for', () => {
  const nobodyOf = (burnt: readonly string[]) =>
    createPayeeRule({ ...full, family: { ...family, burnt } }).nobody

  test.each([
    ['the first address of nobody that the family can spell', ['no address', account(0x70)], account(0x70)],
    ['what clients send where none is an address', ['no address', 'nor this'], 'no address'],
    ['nobody in a family without such', [], undefined],
  ])('%s', (_who, burnt, nobody) => {
    expect(nobodyOf(burnt)).toBe(nobody)
  })

  test('and is told from a wallet however it is spelled', () => {
    const rule = createPayeeRule(full)
    expect(rule.isBurnt(`0x${'0'.repeat(36)}dEaD`)).toBe(true)
    expect(rule.isBurnt(account(0x70))).toBe(false)
  })
})
