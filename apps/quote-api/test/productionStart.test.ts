// Goal: outside of `local` a service whose settings are not those of an operator refuses to start, names the setting
// and prints no secret. Method: `main.ts` as a process of its own per setting; its chains and its database stand
// nowhere, as a start that is refused asks neither.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { z } from 'zod'
import { repositoryRoot } from './fixtures/service.ts'
import { expectRefusedStart, type StartVariables, startSecrets } from './serviceSupport/refusedStart.ts'

/** The first account of anvil and hardhat. */
const publishedAddress = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const adminKey = 'admin-5d41402abc4b2a76b9'
/** Nothing listens there. */
const silentPort = 9
const localChains = z
  .object({ chains: z.tuple([z.object({ depository: z.string() })], z.unknown()) })
  .parse(JSON.parse(readFileSync(join(repositoryRoot, 'configs', 'chains.local.json'), 'utf8')))

/** Another environment, complete but for what no test machine has: its chains and its database. */
function testnets(overrides: StartVariables): StartVariables {
  return {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: startSecrets.privateKey,
    DATABASE_URL: `postgres://causeway:${startSecrets.databasePassword}@127.0.0.1:${silentPort}/causeway`,
    API_KEY_PEPPERS: `v1:${startSecrets.pepper}`,
    PUBLIC_URL: 'https://api.testnets.example',
    ADMIN_API_KEY: adminKey,
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
    ...overrides,
  }
}

const refused: readonly (readonly [string, StartVariables, readonly string[]])[] = [
  [
    'an ENVIRONMENT without files',
    testnets({ ENVIRONMENT: 'staging' }),
    ['ENVIRONMENT', 'chains.staging.json'],
  ],
  ['another environment without a database', testnets({ DATABASE_URL: '' }), ['DATABASE_URL']],
  ['another environment without peppers', testnets({ API_KEY_PEPPERS: '' }), ['API_KEY_PEPPERS']],
  [
    'a pepper that is too short',
    testnets({ API_KEY_PEPPERS: `v2:${startSecrets.pepper};v1:${startSecrets.pepper.slice(2)}` }),
    ['API_KEY_PEPPERS'],
  ],
  ['another environment whose address nobody knows', testnets({ PUBLIC_URL: '' }), ['PUBLIC_URL']],
  [
    'another environment whose admin listener would take anybody on this machine for the operator',
    testnets({ ADMIN_API_KEY: '' }),
    ['ADMIN_API_KEY'],
  ],
  ['an admin key that can be guessed', testnets({ ADMIN_API_KEY: 'admin' }), ['ADMIN_API_KEY']],
  [
    'another environment with a published key and a published account as fill wallet, naming both',
    testnets({ ECDSA_PRIVATE_KEY: startSecrets.publishedKey, FILL_WALLET_ADDRESS: publishedAddress }),
    ['ECDSA_PRIVATE_KEY belongs to a published', 'fillWallet belongs to a published'],
  ],
  [
    'another environment with an address of the local network',
    testnets({ FILL_WALLET_ADDRESS: localChains.chains[0].depository }),
    ['fillWallet', 'local network'],
  ],
  [
    'another environment whose second source of a price is behind the host of the first, naming both',
    testnets({
      ENVIRONMENT: 'mainnets.prod',
      ETHEREUM_RPC_URL: `https://rpc.example/v2/${startSecrets.endpoint}`,
      DEFILLAMA_URL: 'https://RPC.example:8443/prices',
    }),
    ['ETH/USD', 'USDC/USD', 'http defillama', 'one endpoint host'],
  ],
  [
    'another environment whose own address is not set',
    testnets({ TESTNETS_BASE_URL: '' }),
    ['TESTNETS_BASE_URL'],
  ],
]

describe.concurrent('main.ts refuses', () => {
  test.each(refused)('%s', (_name, variables, named) => expectRefusedStart(variables, named))
})
