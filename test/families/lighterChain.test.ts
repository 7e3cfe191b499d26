// Goal: a Lighter chain of the configuration is opened as its entry says and compared with what its endpoints
// say, and owners' keys are read from accounts. Method: entries as the configuration has them, in front of the
// stand-in.
import { ConfigurationError, type Hex, ownerRequestHash } from '@causeway/core'
import { isSignedByOwner } from '@causeway/families/rules'
import { type Answer, type LighterNode, lighterBodies } from '@causeway/localnet/standIns/lighter'
import { recoverMessageAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isReadable, missingSettings, openFamilyChain } from '../../packages/chains/src/chainFamilies.ts'
import { loadChains } from '../../packages/chains/src/config/chainRegistry.ts'
import type { FamilyChain } from '../../packages/families/src/shared/familyChain.ts'
import { lowerCase } from '../../packages/rpc/src/quantity.ts'
import {
  additional,
  aSignal,
  depository,
  keyOf,
  openChain,
  orderId,
  put,
  startNodes,
  transfer,
  user,
} from './lighterSupport/lighterBed.ts'

function chainOf(nodes: readonly LighterNode[], entry: object) {
  const whole = {
    id: 'lighter',
    vmType: 'lighter-vm',
    hubChainId: '7',
    httpRpcUrl: nodes.map(({ url }) => url),
    depository,
    additionalDepositories: [additional],
    ...entry,
  }
  const chainsJson = { environment: 'test', chains: [JSON.parse(JSON.stringify(whole))] }
  const chain = loadChains({ environment: 'test', chainsJson, variables: {} }).chains.get('lighter')
  if (chain === undefined) throw new Error('the chain is not registered')
  return chain
}

function open(nodes: readonly LighterNode[], entry: object = {}): FamilyChain {
  const chain = chainOf(nodes, entry)
  if (!isReadable(chain)) throw new Error('the chain is not readable')
  const opened = openFamilyChain(chain, { finalEntriesMax: 10 })
  onTestFinished(() => opened.close())
  return opened
}

const { signal } = aSignal()

describe('a chain of the configuration', () => {
  test('whose endpoints show its network and depositories has no problems, and is read', async () => {
    const nodes = await startNodes(3)
    const opened = open(nodes)
    expect(await opened.verify(signal)).toEqual([])
    const transactionId = put(nodes, transfer())
    expect(await opened.reader.readDeposits({ transactionId }, aSignal())).toMatchObject({
      deposits: [{ depositId: orderId }],
    })
    expect(opened.reader.vmType).toBe('lighter-vm')
    expect(opened.reader.finalBlocks).toBeUndefined()
  })

  test.each<[string, object]>([
    ['endpoints', { httpRpcUrl: undefined }],
    ['a depository', { depository: undefined }],
  ])('without %s stays listed and is not read', async (_what, entry) => {
    expect(missingSettings(chainOf(await startNodes(), entry))).toHaveLength(1)
  })

  test.each<[string, object]>([
    ['a depository that is no account', { depository: '0x12' }],
    ['an additional one that is the native currency', { additionalDepositories: ['0'] }],
    ['a rule of finality', { finality: { mode: 'depth', blocks: 1 } }],
    ['another network', { additionalData: { network: 'mars' } }],
  ])('with %s is refused', async (_what, entry) => {
    const nodes = await startNodes()
    expect(() => open(nodes, entry)).toThrow(ConfigurationError)
  })

  test('its key goes to the host of the first endpoint and to no other, and into no problem', async () => {
    const [first, second] = await startNodes(2)
    if (first === undefined || second === undefined) throw new Error('no node')
    const rpcApiKey = 'secret-key-of-the-endpoint'
    first.setContract(keyOf('77'))
    const opened = open([first, second], { additionalData: { rpcApiKey } })
    const problems = await opened.verify(signal)
    expect(first.headers()['x-api-key']).toBe(rpcApiKey)
    expect(second.headers()).not.toHaveProperty('x-api-key')
    expect(problems).toHaveLength(1)
    expect(JSON.stringify([problems, opened.health()])).not.toContain(rpcApiKey)
  })
})

describe('an endpoint', () => {
  test('F-162: of another network is named', async () => {
    const nodes = await startNodes()
    nodes[0]?.setContract(keyOf('77'))
    expect(await open(nodes).verify(signal)).toEqual([
      expect.stringMatching(/^httpRpcUrl of lighter: \S+ is on another network$/),
    ])
  })

  test('of the test network must show what the others show', async () => {
    const nodes = await startNodes(2)
    const entry = { additionalData: { network: 'testnet' } }
    expect(await open(nodes, entry).verify(signal)).toEqual([])
    nodes[1]?.setContract(keyOf('77'))
    expect(await open(nodes, entry).verify(signal)).toHaveLength(1)
  })

  test('without the account of a depository is named', async () => {
    expect(await open(await startNodes(), { additionalDepositories: ['99'] }).verify(signal)).toEqual([
      expect.stringMatching(/shows no account 99, a depository of the chain$/),
    ])
  })

  test.each<[string, () => Answer | 'reset']>([
    ['silent', () => 'reset'],
    ['telling rubbish', () => ({ status: 200, text: '<html>' })],
    ['telling an error', () => ({ status: 400, text: lighterBodies.otherErrors.body.invalidParameter })],
  ])('that is %s cannot be verified', async (_what, fault) => {
    const nodes = await startNodes()
    nodes[0]?.fault(fault)
    await expect(open(nodes).verify(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    await expect(open(nodes).verifyLocal(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('of the main network is no part of a local one', async () => {
    const nodes = await startNodes()
    expect(await open(nodes).verifyLocal(signal)).toEqual([expect.stringMatching(/is on the main network$/)])
    nodes[0]?.setContract(keyOf('77'))
    expect(await open(nodes).verifyLocal(signal)).toEqual([])
  })
})

describe('the key of an owner', () => {
  const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)

  function keyReader(nodes: readonly LighterNode[]) {
    const { readOwnerKey } = openChain(nodes).reader
    if (readOwnerKey === undefined) throw new Error('the reader reads no keys')
    return (account: string): Promise<Hex> => readOwnerKey(account, aSignal())
  }

  test('is the address of its account, and its signature counts', async () => {
    const nodes = await startNodes()
    nodes[0]?.setAccount(user, owner.address)
    const readOwnerKey = keyReader(nodes)
    expect(await readOwnerKey(user)).toBe(owner.address.toLowerCase())
    const request = {
      chainId: 'lighter',
      currency: '0',
      amount: '5',
      ownerChainId: 'lighter',
      owner: user,
      recipient: user,
      nonce: '1',
    }
    const message = { raw: ownerRequestHash(request) }
    const signature = await owner.signMessage({ message })
    const signer = lowerCase(await recoverMessageAddress({ message, signature }))
    const ownerChain = { vmType: 'lighter-vm', network: undefined } as const
    const check = {
      request,
      signature,
      ownerChain,
      recoverSigner: () => signer,
      readOwnerKey,
      isAcceptedByCode: async () => true,
    }
    expect(await isSignedByOwner(check)).toBe(true)
    nodes[0]?.setAccount(user, keyOf('33'))
    expect(await isSignedByOwner(check)).toBe(false)
  })

  test.each<[string, string, string]>([
    ['that does not exist', '', 'OWNER_ACCOUNT_NOT_FOUND'],
    ['with the zero address', keyOf('00'), 'OWNER_ACCOUNT_WITHOUT_KEY'],
    ['with no address', 'empty', 'OWNER_ACCOUNT_WITHOUT_KEY'],
    ['with an address that is none', '0x12', 'RPC_HTTP_ERROR'],
  ])('of an account %s is refused', async (_what, address, code) => {
    const nodes = await startNodes()
    if (address !== '') nodes[0]?.setAccount(user, address === 'empty' ? '' : address)
    await expect(keyReader(nodes)(user)).rejects.toMatchObject({ code })
  })

  test.each<[string, (text: string) => string]>([
    ['of another account', (text) => text.replaceAll(user, '5')],
    ['of no account', (text) => text.replace(/\[\{.*\}\]/, '[]')],
    ['of two accounts', (text) => text.replace(/\[(\{.*\})\]/, '[$1,$1]')],
    ['with another code', (text) => text.replace('"code":200', '"code":201')],
  ])('is not read from an answer %s', async (_what, change) => {
    const nodes = await startNodes()
    nodes[0]?.setAccount(user, owner.address)
    nodes[0]?.fault((_path, truth) => ({ ...truth, text: change(truth.text) }))
    await expect(keyReader(nodes)(user)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test('takes a quorum: one of three endpoints cannot name its own', async () => {
    const nodes = await startNodes(3)
    for (const node of nodes) node.setAccount(user, owner.address)
    nodes[0]?.setAccount(user, keyOf('33'))
    expect(await keyReader(nodes)(user)).toBe(owner.address.toLowerCase())
    nodes[1]?.setAccount(user, keyOf('44'))
    await expect(keyReader(nodes)(user)).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
  })

  test.each(['', '-1', '007', '1e3', `${2n ** 64n}`, '../tx'])('%j is no account', async (account) => {
    const nodes = await startNodes()
    await expect(keyReader(nodes)(account)).rejects.toMatchObject({ code: 'INVALID_ADDRESS' })
    expect(nodes[0]?.asked()).toEqual([])
  })
})
