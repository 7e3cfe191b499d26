import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FamilyKey, forEachFamily } from '../families/familyPlans.ts'
import { solanaAccounts } from '../families/solanaAccounts.ts'
import { familyAccounts } from '../keys/familyAccounts.ts'
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

  it('O-33: names every chain where the other families run, open or not, and who owns something there', () => {
    const place = (key: FamilyKey) => ({ url: `http://127.0.0.1:4/${key}` })
    const solana = {
      ...place('solana'),
      depository: 'its address',
      firstDeposit: { transactionId: 'id', amount: '1' },
    }
    const families = {
      urls: forEachFamily(place),
      controlUrl: 'http://127.0.0.1:5',
      facts: new Map([['solana', solana] as const]),
    }
    const content = networkFileContent({ ...facts, families })
    expect(content.chains.slice(2).map(({ id, name, rpcUrl }) => [id, name, rpcUrl])).toEqual([
      [792_703_809, 'solana', 'http://127.0.0.1:4/solana'],
      [8_253_038, 'bitcoin', 'http://127.0.0.1:4/bitcoin'],
      [728_126_428, 'tron', 'http://127.0.0.1:4/tron'],
      [1_337, 'hyperliquid', 'http://127.0.0.1:4/hyperliquid'],
      [3_586_256, 'lighter', 'http://127.0.0.1:4/lighter'],
    ])
    expect(content).toMatchObject({ families: [{ id: 'solana', vmType: 'solana-vm', ...solana }] })
    const accounts = familyAccounts(keys)
    const { fillWallet, deployer, users } = solanaAccounts(keys)
    expect(content).toMatchObject({
      solver: {
        address: keys.fillWallet.address,
        solanaAddress: fillWallet.address,
        bitcoinAddress: accounts.bitcoin.fillWallet.address,
        tronAddress: accounts.tron.fillWallet.address,
      },
      solanaAccounts: users.map(({ address, secretKey }) => ({ address, secretKey })),
      tronAccounts: accounts.tron.users,
    })
    const text = JSON.stringify(content)
    const solvers = [accounts.bitcoin, accounts.tron, accounts.hyperliquid].map(
      (one) => one.fillWallet.privateKey,
    )
    const others = [accounts.lighter.fillWallet.apiKey, accounts.lighter.fillWallet.owner.privateKey]
    for (const secret of [fillWallet.secretKey, deployer.secretKey, ...solvers, ...others])
      expect(text).not.toContain(secret)
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
