import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { generateLocalKeys } from '../../src/keys/generateKeys.ts'
import { testDeployment } from '../../src/network/testDeployment.ts'

type Json = Readonly<Record<string, unknown>>

const without = (names: readonly string[], members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

const { base, optimism, hub } = testDeployment()
const { allocator, ...allKeys } = generateLocalKeys(generatePrivateKey)
const feedsOf = (feeds: Json, names: readonly string[]) =>
  Object.fromEntries(Object.entries(feeds).filter(([name]) => names.includes(name)))

type EarlierNetwork = { readonly keys: Json; readonly chain: (members: Json) => Json; readonly hub: Json }

const firstFeeds = ['ETH/USD', 'USDC/USD', 'USDX/USD', 'TIDE/USD']
const hubOf = ({ chainId, hub: address, oracle, oracleMultisig, genericMapping }: typeof hub): Json => ({
  chainId,
  hub: address,
  oracle,
  oracleMultisig,
  genericMapping,
})

/** Files that `.local` of a release had, in the form that its own schemas read. */
export const earlierNetworks: ReadonlyMap<string, EarlierNetwork> = new Map([
  [
    '0.1.0',
    {
      keys: allKeys,
      chain: (members: Json) => ({
        ...without(['cleanupRouter', 'permit2Router'], members),
        feeds: feedsOf(base.feeds, firstFeeds),
      }),
      hub: { ...hubOf(hub), allocatorSpender: hub.allocator },
    },
  ],
  [
    '0.2.0',
    {
      keys: { ...allKeys, allocator },
      chain: (members: Json) => ({ ...members, feeds: feedsOf(base.feeds, [...firstFeeds, 'SOL/USD']) }),
      hub: { ...hub },
    },
  ],
])

/** Writes such a folder. @returns the text of each file by its path in it */
export async function earlierFolder(
  directory: string,
  { keys, chain, hub: hubMembers }: EarlierNetwork,
): Promise<ReadonlyMap<string, string>> {
  const networkId = generatePrivateKey()
  const deployment = { base: chain(base), optimism: chain(optimism), hub: hubMembers }
  const texts = new Map([
    ['keys.json', JSON.stringify({ version: 1, networkId, keys })],
    ['manifest.json', JSON.stringify({ version: 1, networkId, deploymentHash: 'of its time', deployment })],
    ['network.json', '{}'],
    ['tron.json', '{"blocks":[]}'],
    ...['base', 'optimism', 'hub'].map((key): [string, string] => [
      `chains/${key}.json`,
      `"state of ${key}"`,
    ]),
    ['secrets/order-signer', generatePrivateKey()],
    ['secrets/api-key-pepper', generatePrivateKey()],
    ['services/quote-api.json', '{"DATABASE_URL":"of its time"}'],
    ['oracle-1/base.halted.json', '{"reason":"a halt of its time"}'],
    ['postgres/password', 'of its time'],
    ['postgres/cluster/PG_VERSION', '18'],
    ['postgres/cluster/base/1/112', 'rows of its time'],
  ])
  for (const [name, text] of texts) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return texts
}
