// Goal: in every family nothing is paid to what the files or the network keep for themselves, however it is spelled, and
// everybody else may be paid. Method: one table of kinds over the shipped files and all families.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chainsFileSchema, quoteFileSchema } from '@causeway/core/config'
import { codecOf, tronAddress, type VmType, vmTypes } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { quotingFamilies } from '../registry/quotingFamilies.ts'
import { createPayeeRule } from './payeeRule.ts'

const configs = join(import.meta.dirname, '../../../../configs')
/** Whatever a variable would hold. */
const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(configs, name), 'utf8').replaceAll(/"\$[A-Z_]+"/g, `"0x${'f0'.repeat(20)}"`))
const file = quoteFileSchema.parse(read('quote.mainnets.prod.json'))
const { chains } = chainsFileSchema.parse(read('chains.mainnets.prod.json'))
const [quoted] = Object.values(file.chains)
if (quoted === undefined) throw new Error('the file quotes chains')
const model = quoted

const hex = (byte: string) => `0x${byte.repeat(20)}` as const

/** An account of each family as it is written, by two digits of hex. */
const accounts: Readonly<Record<VmType, (byte: string) => string>> = {
  'ethereum-vm': hex,
  'hyperliquid-vm': hex,
  'tron-vm': (byte) => tronAddress(hex(byte)),
  'solana-vm': (byte) => `${'1'.repeat(30)}${byte === 'd1' ? 'De' : byte === 'f1' ? 'Fi' : 'Pa'}`,
  'bitcoin-vm': (byte) =>
    byte === 'd1'
      ? 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
      : byte === 'f1'
        ? '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'
        : 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  'lighter-vm': (byte) => `${Number.parseInt(byte, 16)}`,
}

function ruleOf(vmType: VmType) {
  const family = quotingFamilies[vmType]
  if (family === undefined) throw new Error(`${vmType} is quoted`)
  const account = accounts[vmType]
  const config = {
    ...model,
    multicall3: hex('c1'),
    fillContract: hex('c2'),
    cleanupRouter: hex('c3'),
    depositRouter: hex('c4'),
    fillWallet: account('f1'),
    currencies: [],
  }
  return {
    account,
    rule: createPayeeRule({
      codec: codecOf({ vmType, network: undefined }),
      family,
      file,
      config,
      listed: { id: 'a', depository: account('d1'), fillContracts: [], fillPayers: [] },
      custody: hex('c5'),
    }),
  }
}

describe.each(vmTypes)('on %s', (vmType) => {
  const { rule, account } = ruleOf(vmType)

  test('Q-60: the depository and the fill wallet are named, and nobody else is', () => {
    expect(rule.neverPaid(account('d1'))).toBe('a depository')
    expect(rule.neverPaid(account('f1'))).toMatch(/^the fill wallet/)
    expect(rule.neverPaid(account('a1'))).toBeUndefined()
    expect(rule.isBurnt(account('a1'))).toBe(false)
  })
})

test.each<[VmType, string, RegExp]>([
  ['ethereum-vm', hex('c2'), /fill contract/],
  ['ethereum-vm', `0x${'C3'.repeat(20)}`, /anybody empties/],
  ['ethereum-vm', hex('c5'), /top-ups/],
  ['ethereum-vm', `0x${'0'.repeat(39)}1`, /precompile/],
  ['ethereum-vm', `0x${'0'.repeat(36)}1010`, /network itself/],
  ['ethereum-vm', `0x42${'0'.repeat(34)}07ff`, /predeploy/],
  ['ethereum-vm', '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02', /network itself/],
  ['ethereum-vm', '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', /keeps money for nobody/],
  ['tron-vm', tronAddress(hex('c2')), /fill contract/],
  ['tron-vm', tronAddress(`0x${'0'.repeat(38)}0a`), /precompile/],
  ['tron-vm', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', /burnt/],
  ['hyperliquid-vm', `0x20${'0'.repeat(36)}c5`, /system address/],
  ['hyperliquid-vm', hex('22'), /system address/],
  ['solana-vm', 'SysvarRent111111111111111111111111111111111', /sysvar/],
  ['solana-vm', 'Vote111111111111111111111111111111111111111', /program of the cluster/],
  ['solana-vm', '1nc1nerator11111111111111111111111111111111', /program of the cluster/],
])('Q-60: on %s nothing is paid to %s', (vmType, account, what) => {
  expect(ruleOf(vmType).rule.neverPaid(account)).toMatch(what)
})

test.each<[VmType, string]>([
  ['ethereum-vm', `0x43${'0'.repeat(38)}`],
  ['ethereum-vm', `0x42${'0'.repeat(35)}800`],
  ['ethereum-vm', `0x${'0'.repeat(35)}10000`],
  ['hyperliquid-vm', `0x20${'0'.repeat(29)}1${'0'.repeat(8)}`],
])('Q-60: on %s its neighbour %s is an account like others', (vmType, account) => {
  expect(ruleOf(vmType).rule.neverPaid(account)).toBeUndefined()
})

test.each<[VmType, string]>([
  ['ethereum-vm', `0x${'0'.repeat(36)}dEaD`],
  ['ethereum-vm', hex('00')],
  ['hyperliquid-vm', `0x${'0'.repeat(36)}dEaD`],
  ['solana-vm', 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'],
  ['bitcoin-vm', '34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo'],
  ['bitcoin-vm', 'bc1q4vxn43l44h30nkluqfxd9eckf45vr2awz38lwa'],
  ['tron-vm', 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt'],
])('Q-60: on %s clients price for %s, which nobody holds', (vmType, account) => {
  const { rule } = ruleOf(vmType)
  expect([rule.isBurnt(account), rule.neverPaid(account)]).toEqual([true, undefined])
})

test('Q-60: every contract and token of a shipped file is named', () => {
  const listed = chains.find(({ id }) => file.chains[id] !== undefined)
  const config = listed && file.chains[listed.id]
  const family = quotingFamilies['ethereum-vm']
  if (listed === undefined || config === undefined || family === undefined)
    throw new Error('the files changed')
  const codec = codecOf({ vmType: 'ethereum-vm', network: undefined })
  const rule = createPayeeRule({ codec, family, listed, config, file })
  const { currencies, multicall3, wrappedNative, uniswapV3 } = config
  const named = [
    ...currencies.map(({ address }) => address).filter((address) => address !== codec.nativeCurrency),
    ...[multicall3, wrappedNative, uniswapV3?.factory, uniswapV3?.quoterV2],
    ...(uniswapV3?.pools ?? []).map(({ address }) => address),
    ...file.prices
      .flatMap(({ feeds }) => feeds.filter(({ chain }) => chain === listed.id))
      .map(({ address }) => address),
  ].filter((address) => address !== undefined && /^0x/.test(address))
  expect(named.filter((address) => address !== undefined && rule.neverPaid(address) === undefined)).toEqual(
    [],
  )
})
