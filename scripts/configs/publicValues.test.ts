// Goal: what the shipped files name of public networks is what others publish: a wrong address loses money.
// Method: the files against what the public protocol's own widget lists, as its package ships it, and against the
// table of the guide, which names a source for each value that no package ships.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { root } from './writeJson.ts'

const environment = 'mainnets.prod'
const { quote, chains } = parseConfigSet(environment, readRawConfigSet(join(root, 'configs'), environment))
const listSchema = z.object({
  default: z.array(z.object({ name: z.string(), chainId: z.string(), contractAddress: z.string() })),
})

async function widgetCurrencies() {
  const path =
    'examples/shop/node_modules/@relayprotocol/relay-kit-ui/_esm/src/constants/moonPayCurrencies.js'
  const loaded: unknown = await import(pathToFileURL(join(root, path)).href)
  return listSchema.parse(loaded).default
}

describe('the shipped configuration names what others publish', () => {
  test('O-146: of Solana: its id, its coin and the mint of USDC, as the public widget has them', async () => {
    const { solana } = quote.chains
    const listed = (await widgetCurrencies()).filter(({ chainId }) => chainId === String(solana?.chainId))
    for (const { address, name } of solana?.currencies ?? []) {
      const published = listed.find(({ contractAddress }) => contractAddress === address)
      expect([name, published?.name]).toEqual([name, `${name}${name === 'Solana' ? '' : ' (Solana)'}`])
    }
    expect(solana?.currencies).toHaveLength(2)
  })

  test('of USDC on every chain that the public widget lists it on', async () => {
    // The widget's provider sells the bridged token there, which Circle does not issue.
    const bridged = new Map([['10', '0x7f5c764cbc14f9669b88837ca1490cca17c31607']])
    const published = (await widgetCurrencies()).filter(({ name }) => name.startsWith('USD Coin ('))
    const compared = published.flatMap(({ chainId, contractAddress }) => {
      const chain = Object.values(quote.chains).find((one) => String(one.chainId) === chainId)
      const ours = chain?.currencies.find(({ symbol }) => symbol === 'USDC')?.address
      if (ours === undefined || bridged.get(chainId) === contractAddress.toLowerCase()) return []
      return [[chainId, ours.toLowerCase(), contractAddress.toLowerCase()]]
    })
    expect(compared.map(([chainId]) => chainId)).toEqual(['1', '42161', '8453', '137', '792703809'])
    for (const [chainId, ours, theirs] of compared) expect([chainId, ours]).toEqual([chainId, theirs])
  })

  test('of Solana: depository, cluster, mint and feeds, as the guide gives their sources', () => {
    const guide = readFileSync(join(root, 'docs/guides/add-a-chain.md'), 'utf8')
    const rows = guide.split('\n').filter((line) => line.startsWith('| '))
    const listed = chains.chains.find(({ id }) => id === 'solana')
    const feeds = quote.prices.find(({ key }) => key === 'SOL/USD')?.feeds ?? []
    const values = [
      ...[listed?.depository, listed?.additionalData?.network],
      ...(quote.chains['solana']?.currencies.slice(1).map(({ address }) => address) ?? []),
      ...feeds.map(({ address }) => address),
    ]
    expect(values).toHaveLength(6)
    for (const value of values) {
      const [, , source = ''] = rows.find((row) => row.includes(`\`${value}\``))?.split(' | ') ?? []
      expect([value, source.replace(' |', '').length > 5]).toEqual([value, true])
    }
  })
})
