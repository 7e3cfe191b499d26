import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { solanaAccounts } from '../families/solanaAccounts.ts'
import { localMints } from '../families/solanaTokens.ts'
import { generateLocalKeys } from '../keys/generateKeys.ts'
import { countingKeys } from '../keys/testKeys.ts'
import { networkFileContent, writeNetworkFile } from './networkFile.ts'
import { testDeployment } from './testDeployment.ts'

const keys = generateLocalKeys(countingKeys())
const deployment = testDeployment()
const facts = {
  quoteApiUrl: 'http://127.0.0.1:3000',
  oracles: [{ url: 'http://127.0.0.1:3100', signer: keys.oracles[0].address }],
  deployment,
  keys,
  sponsorApiKey: 'causeway_test_key',
  rpcUrls: { base: 'http://127.0.0.1:1', optimism: 'http://127.0.0.1:2', hub: 'http://127.0.0.1:3' },
}

describe('network.json', () => {
  it('has the members that scripts of newcomers read', () => {
    const { base, optimism, hub } = deployment
    const chain = ({ depository, multicall3, wrappedNative, tokens }: typeof base | typeof optimism) => ({
      depository,
      multicall3,
      wrappedNative,
      tokens,
    })
    expect(networkFileContent(facts)).toEqual({
      quoteApi: { url: 'http://127.0.0.1:3000' },
      oracles: [{ url: 'http://127.0.0.1:3100', signer: keys.oracles[0].address }],
      chains: [
        { id: 8453, name: 'base', rpcUrl: 'http://127.0.0.1:1', ...chain(base) },
        { id: 10, name: 'optimism', rpcUrl: 'http://127.0.0.1:2', ...chain(optimism) },
      ],
      hub: { rpcUrl: 'http://127.0.0.1:3', hubAddress: hub.hub, oracleAddress: hub.oracle },
      solver: { address: keys.fillWallet.address },
      accounts: keys.users,
      sponsor: {
        apiKey: 'causeway_test_key',
        wallet: keys.sponsor.address,
        walletPrivateKey: keys.sponsor.privateKey,
        topUpAddress: keys.custody.address,
      },
    })
  })

  it('names Solana among the chains where it runs, and who owns something there', () => {
    const family = (url: string) => ({ url, depository: 'its address', firstDeposit })
    const firstDeposit = { transactionId: 'its id', amount: '1' }
    const [solana, other] = [family('http://127.0.0.1:4'), family('http://127.0.0.1:5')]
    const families = { solana, bitcoin: other, tron: other, hyperliquid: other, lighter: other }
    const { fillWallet, users } = solanaAccounts(keys)
    const content = networkFileContent({ ...facts, families })
    expect(content.chains.at(-1)).toEqual({
      ...{ id: 792_703_809, name: 'solana', rpcUrl: 'http://127.0.0.1:4', depository: 'its address' },
      tokens: { USDC: localMints.USDC.address, WETH: localMints.WETH.address },
    })
    expect(content.solver).toEqual({ address: keys.fillWallet.address, solanaAddress: fillWallet.address })
    expect(content).toMatchObject({
      solanaAccounts: users.map(({ address, secretKey }) => ({ address, secretKey })),
    })
    const text = JSON.stringify(content)
    for (const { secretKey } of [fillWallet, solanaAccounts(keys).deployer])
      expect(text).not.toContain(secretKey)
  })

  it('names no service that does not run', () => {
    const { quoteApiUrl: _none, ...withoutService } = facts
    expect(networkFileContent(withoutService)).not.toHaveProperty('quoteApi')
  })

  it('tells none of the keys that move the network itself', () => {
    const text = JSON.stringify(networkFileContent(facts))
    const { deployer, orderSigner, custody, fillWallet, keeper, oracles, allocator } = keys
    for (const { privateKey } of [
      deployer,
      orderSigner,
      custody,
      fillWallet,
      keeper,
      allocator,
      ...oracles,
    ]) {
      expect(text).not.toContain(privateKey)
    }
  })

  it('is readable for its owner alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-network-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'network.json')
    await writeNetworkFile(path, facts)
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(networkFileContent(facts))
  })
})
