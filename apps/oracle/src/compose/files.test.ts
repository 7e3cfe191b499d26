// The files that the repository ships, as the oracle loads them in each environment.
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadFiles } from './files.ts'

const configDirectory = fileURLToPath(new URL('../../../../configs', import.meta.url))
const signer = `0x${'5a'.repeat(20)}`
const environments = ['mainnets.prod', 'testnets.prod', 'local'] as const
const nativeCurrency = `0x${'00'.repeat(20)}`
const endpoint = 'http://127.0.0.1:1'
const hubEndpoint = { RELAY_RPC_URL: endpoint, RELAY_TESTNET_RPC_URL: endpoint }

const load = (environment: string, variables: Record<string, string>, own = signer) =>
  loadFiles({ environment, configDirectory, variables, signer: own })

describe('the files of an environment', () => {
  test.each(environments)(
    'P-86: %s give its chains and its hub, with endpoints by variable',
    async (environment) => {
      const variables = {
        ...hubEndpoint,
        BASE_RPC_URL: endpoint,
        BASE_SEPOLIA_RPC_URL: endpoint,
        BASE_SIGNING_CAPS: `${nativeCurrency}=1000, 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913=1`,
      }
      const { chains, hub } = await load(environment, variables)
      expect(hub).toMatchObject({
        ready: true,
        id: environment === 'testnets.prod' ? 'relay-testnet' : 'relay',
      })
      const ready = [...chains.chains.values()].filter((chain) => chain.ready)
      expect(ready.map(({ id }) => id)).toEqual([environment === 'testnets.prod' ? 'base-sepolia' : 'base'])
    },
  )

  test('mainnets.prod are refused with a chain whose signing caps are not set, and name the variable', async () => {
    const variables = { ...hubEndpoint, BASE_RPC_URL: endpoint }
    await expect(load('mainnets.prod', variables)).rejects.toThrow(
      'signingCaps of chain base is needed: set BASE_SIGNING_CAPS',
    )
    // Empty is not set, and a chain that cannot be read needs none.
    await expect(load('mainnets.prod', { ...variables, BASE_SIGNING_CAPS: '' })).rejects.toThrow(
      'base is needed',
    )
    await expect(load('mainnets.prod', hubEndpoint)).resolves.toBeDefined()
  })

  test.each<[string, string]>([
    ['no currency of the chain', 'usdc=1'],
    ['an amount that is none', `${nativeCurrency}=1e18`],
    ['a negative amount', `${nativeCurrency}=-1`],
    ['no amount', nativeCurrency],
    ['one currency twice', `${nativeCurrency}=1,${nativeCurrency}=2`],
  ])('mainnets.prod are refused with signing caps of %s', async (_what, caps) => {
    const variables = { ...hubEndpoint, BASE_RPC_URL: endpoint, BASE_SIGNING_CAPS: caps }
    await expect(load('mainnets.prod', variables)).rejects.toThrow(
      /chains\[[0-9]+\]\.signingCaps: entry [12]: names /,
    )
  })

  test.each(environments)('%s are refused without an endpoint of the hub', async (environment) => {
    await expect(load(environment, {})).rejects.toThrow(/RELAY(_TESTNET)?_RPC_URL/)
  })

  test.each(['mainnets.prod', 'testnets.prod'])(
    '%s refuse a published development key',
    async (environment) => {
      const published = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
      await expect(load(environment, hubEndpoint, published)).rejects.toThrow("The signer's key")
    },
  )

  test('local refuse an endpoint beyond loopback', async () => {
    const variables = { ...hubEndpoint, BASE_RPC_URL: 'http://10.0.0.1' }
    await expect(load('local', variables)).rejects.toThrow(/base/)
  })

  test('nobody has are refused by name', async () => {
    await expect(load('moon', {})).rejects.toThrow(
      /ENVIRONMENT is moon, and chains\.moon\.json is not in .+; known: local, mainnets\.prod, testnets\.prod$/,
    )
  })
})
