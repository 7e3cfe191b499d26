// Goal: an operator deploys what quotes rely on by one command, the same contract at the same address on every
// chain, and learns when other code stands there. Method: the commands on bare nodes.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadChains } from '@causeway/chains'
import {
  allocatorAbi,
  codeStateOf,
  create2Proxy,
  depositoryAbi,
  fillContractAddress,
  hubAbi,
  isKnownCode,
  oracleMultisigAbi,
  planCreate2Deployment,
  planDeployment,
  planDepository,
  planSettlement,
  settlementInitializations,
  type Transaction,
} from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { codeProblems, expectedCodes, type KnownCode } from '@causeway/families'
import { type Anvil, startAnvil } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import {
  concatHex,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  http,
  keccak256,
  parseEther,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot } from './fixtures/service.ts'

const deployerKey = generatePrivateKey()
const strangerKey = generatePrivateKey()
// CAST: lower case hex is still hex.
const deployerAddress = privateKeyToAddress(deployerKey).toLowerCase() as Hex
const multicall3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'
const outputSchema = z.object({
  contracts: z.array(
    z.object({ name: z.string(), address: z.string(), state: z.string(), isNew: z.boolean() }),
  ),
})

let base: Anvil
let optimism: Anvil
let hub: Anvil
let directory: string

beforeAll(async () => {
  ;[base, optimism, hub] = await Promise.all([
    startAnvil({ chainId: 8_453 }),
    startAnvil({ chainId: 10 }),
    startAnvil({ chainId: 537_713 }),
  ])
  directory = await mkdtemp(join(tmpdir(), 'causeway-contracts-'))
  for (const { url } of [base, optimism, hub]) {
    for (const key of [deployerKey, strangerKey])
      await node(url).setBalance({ address: privateKeyToAddress(key), value: parseEther('10') })
  }
})
afterAll(async () => {
  await base?.stop()
  await optimism?.stop()
  await hub?.stop()
  await rm(directory, { recursive: true, force: true })
})

const node = (url: string) => createTestClient({ mode: 'anvil', transport: http(url) })

async function sendFrom(key: Hex, url: string, transaction: Transaction): Promise<string> {
  const client = createPublicClient({ transport: http(url) })
  const wallet = createWalletClient({ account: privateKeyToAccount(key), transport: http(url) })
  const hash = await wallet.sendTransaction({ ...transaction, chain: null, gas: 8_000_000n })
  return (await client.waitForTransactionReceipt({ hash })).status
}

async function command(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = {
    ENVIRONMENT: 'local',
    CAUSEWAY_LOCAL_DIR: directory,
    ECDSA_PRIVATE_KEY: generatePrivateKey(),
    BASE_RPC_URL: base.url,
    OPTIMISM_RPC_URL: optimism.url,
    RELAY_RPC_URL: hub.url,
    ...more,
  }
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

/** As a contract of a release before codes were compared: this one knows nothing of it. */
async function foreignContract() {
  const address = privateKeyToAddress(generatePrivateKey()).toLowerCase() as Hex
  await node(base.url).setCode({ address, bytecode: '0x6001600155' })
  return { address, isKnown: false }
}

async function earlierContract() {
  const path = join(repositoryRoot, 'packages/contracts/test/fixtures/fillContract-0.2.0.hex')
  // CAST: the file is hex, or nothing of known code is deployed.
  const { salt, initCode, address } = planCreate2Deployment(
    zeroHash,
    (await readFile(path, 'utf8')).trim() as Hex,
  )
  await sendFrom(deployerKey, base.url, { to: create2Proxy, data: concatHex([salt, initCode]) })
  return { address, isKnown: true }
}

/** Problems that a start finds with the fill contracts of the first chain. */
async function startProblems(configs: string) {
  const variables = { BASE_RPC_URL: base.url, OPTIMISM_RPC_URL: optimism.url, RELAY_RPC_URL: hub.url }
  const chainsJson: unknown = JSON.parse(await readFile(join(configs, 'chains.local.json'), 'utf8'))
  const registry = loadChains({ environment: 'local', chainsJson, hubJson: undefined, variables }).chains.get(
    'base',
  )
  if (registry === undefined) throw new Error('base is listed')
  const contracts = (registry.fillContracts ?? []).map((address) => ({
    name: 'FillContract' as const,
    setting: 'fillContracts',
    // CAST: an address of this family is lower-case hex.
    address: address as Hex,
  }))
  const isKnown: KnownCode = ({ name }, code) => isKnownCode(name, code)
  const expected = expectedCodes(contracts, { isKnown, codeHashes: registry.codeHashes })
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: [{ url: base.url }],
    threshold: 1,
  })
  const problems = await codeProblems({ client, expected, threshold: 1 })
  await client.close()
  return { registry, problems }
}

const contractsOf = (output: string) => outputSchema.parse(JSON.parse(output)).contracts
const withKey = { DEPLOYER_PRIVATE_KEY: deployerKey }

describe('contracts', () => {
  test('are planned without a key, and nothing stands there yet', async () => {
    const planned = await command(['contracts', 'deploy', '--chain', 'base', '--dry-run', '--json'])
    expect(contractsOf(planned.output).map(({ name, state }) => [name, state])).toEqual([
      ['FillContract', 'planned'],
      ['CleanupRouter', 'planned'],
      ['Permit2Router', 'planned'],
      ['DepositAddresses', 'planned'],
      ['PermitRouter', 'planned'],
      ['DepositRouter', 'planned'],
    ])
    const found = await command(['contracts', 'verify', '--chain', 'base', '--json'])
    expect(found.code).toBe(1)
    expect(new Set(contractsOf(found.output).map(({ state }) => state))).toEqual(new Set(['missing']))
    const refused = await command(['contracts', 'deploy', '--chain', 'base'])
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('DEPLOYER_PRIVATE_KEY')])
  })

  test('O-116: --configured leaves out what the quote file does not name', async () => {
    const configs = join(directory, 'named')
    await cp(join(repositoryRoot, 'configs'), configs, { recursive: true })
    const path = join(configs, 'quote.local.json')
    const quote = JSON.parse(await readFile(path, 'utf8'))
    for (const name of ['depositAddresses', 'permit2Router']) delete quote.chains.base[name]
    await writeFile(path, JSON.stringify(quote))
    const words = ['contracts', 'deploy', '--chain', 'base', '--configured', '--dry-run', '--json']
    const { output } = await command(words, { CONFIG_DIR: configs })
    expect(contractsOf(output).map(({ name }) => name)).toEqual([
      ...['FillContract', 'CleanupRouter', 'PermitRouter', 'DepositRouter'],
    ])
    const both = await command([...words, '--settlement', 'settlement.json'], { CONFIG_DIR: configs })
    expect([both.code, both.output]).toEqual([2, expect.stringContaining('--configured')])
  })

  test('are deployed once, at the addresses of the configuration and alike on both chains', async () => {
    const keyFile = join(directory, 'deployer.key')
    await writeFile(keyFile, deployerKey, { mode: 0o600 })
    const first = await command(['contracts', 'deploy', '--chain', 'base', '--json'], {
      DEPLOYER_PRIVATE_KEY_FILE: keyFile,
    })
    expect(first.output).not.toContain(deployerKey)
    expect(first.code).toBe(0)
    expect(contractsOf(first.output).every(({ state, isNew }) => state === 'ours' && isNew)).toBe(true)
    const second = await command(['contracts', 'deploy', '--chain', 'optimism', '--json'], withKey)
    expect(contractsOf(second.output).map(({ address }) => address)).toEqual(
      contractsOf(first.output).map(({ address }) => address),
    )
    const again = await command(['contracts', 'deploy', '--chain', 'base', '--json'], withKey)
    expect(contractsOf(again.output).some(({ isNew }) => isNew)).toBe(false)
    // The local network was deployed by the same plan. Its depository has no owner, and nothing looks at that here.
    const { salt, initCode } = planDepository('local', multicall3)
    await sendFrom(deployerKey, base.url, { to: create2Proxy, data: concatHex([salt, initCode]) })
    expect(await command(['contracts', 'verify', '--chain', 'base'])).toMatchObject({ code: 0 })
  })

  test('whose code was replaced are told by a verification', async () => {
    const [, found] = contractsOf(
      (await command(['contracts', 'verify', '--chain', 'base', '--json'])).output,
    )
    // CAST: the command prints addresses.
    const address = found?.address as Hex
    const code = await createPublicClient({ transport: http(base.url) }).getCode({ address })
    if (code === undefined) throw new Error('no code')
    const changed: Hex = `0x${code.slice(2, -2)}${code.endsWith('00') ? '01' : '00'}`
    await node(base.url).setCode({ address, bytecode: changed })
    const verified = await command(['contracts', 'verify', '--chain', 'base'])
    expect([verified.code, verified.output]).toEqual([1, expect.stringMatching(/fillContract .*other code/)])
    const deployed = await command(['contracts', 'deploy', '--chain', 'base'], withKey)
    expect(deployed.code).toBe(1)
    await node(base.url).setCode({ address, bytecode: code })
    expect(codeStateOf('FillContract', code)).toBe('ours')
  })

  test('are not deployed without the proxy, and not on another chain than the endpoint is on', async () => {
    const bare = await startAnvil({ chainId: 8_453 })
    try {
      const proxy = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
      await node(bare.url).setCode({ address: proxy, bytecode: '0x' })
      const refused = await command(['contracts', 'deploy', '--chain', 'base'], {
        ...withKey,
        BASE_RPC_URL: bare.url,
      })
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('deployment proxy')])
    } finally {
      await bare.stop()
    }
    const swapped = await command(['contracts', 'verify', '--chain', 'base'], { BASE_RPC_URL: optimism.url })
    expect([swapped.code, swapped.output]).toEqual([1, expect.stringContaining('is on chain 10')])
    expect(await command(['contracts', 'verify', '--chain', 'atlantis'])).toMatchObject({ code: 2 })
  })

  test('the fill contract stands where services expect it without a plan', () => {
    for (const environment of ['local', 'mainnets.prod']) {
      const [planned] = planDeployment(environment, { depository: zeroAddress })
      expect(fillContractAddress(environment)).toBe(planned?.address)
    }
  })

  test('L-33: of two environments share no address', () => {
    const around = { depository: zeroAddress, swapRouter: zeroAddress, wrappedNative: zeroAddress }
    const addresses = ['local', 'testnets.prod', 'mainnets.prod'].flatMap((environment) =>
      planDeployment(environment, around).map(({ address }) => address),
    )
    expect(new Set(addresses).size).toBe(addresses.length)
  })
})

describe('settlement', () => {
  const owner: Hex = `0x${'90'.repeat(20)}`
  const oracles = ['01', '02', '03'].map((byte): Hex => `0x${byte.repeat(20)}`)
  const flags = (chain: string) => ['--chain', chain, '--settlement', join(directory, 'settlement.json')]

  async function writeSettlement(changes: object = {}): Promise<void> {
    const file = {
      environment: 'local',
      initializer: privateKeyToAddress(deployerKey),
      owner,
      oracles,
      oracleThreshold: 2,
      allocatorSigner: `0x${'0b'.repeat(20)}`,
      depositories: [
        { chain: 'base' },
        { chain: 'optimism' },
        { chain: 'lighter', networkId: '300' },
        { chain: 'bitcoin' },
      ],
      ...changes,
    }
    await writeFile(join(directory, 'settlement.json'), JSON.stringify(file))
  }

  const planned = async (chain: string) =>
    contractsOf((await command(['contracts', 'deploy', ...flags(chain), '--dry-run', '--json'])).output)

  async function ownerOf(url: string, address: string): Promise<string> {
    const client = createPublicClient({ transport: http(url) })
    // CAST: the command prints addresses.
    return client.readContract({ address: address as Hex, abi: hubAbi, functionName: 'owner' })
  }

  test('is planned at addresses that depend on who may initialize, on each chain alike', async () => {
    await writeSettlement()
    const onHub = await planned('hub')
    expect(onHub.map(({ name }) => name)).toEqual([
      ...['Hub', 'HubOracle', 'OracleMultisig', 'GenericMapping', 'Allocator'],
      ...['EvmPayloadBuilder', 'LighterPayloadBuilder', 'BitcoinPayloadBuilder'],
    ])
    const [onBase, onOptimism] = [await planned('base'), await planned('optimism')]
    expect(onBase.map(({ address }) => address)).toEqual(onOptimism.map(({ address }) => address))
    expect(onBase[0]?.name).toBe('Depository')
    await writeSettlement({ initializer: privateKeyToAddress(strangerKey) })
    const others = [...(await planned('hub')).slice(0, 5), ...(await planned('base')).slice(0, 1)]
    const own = new Set([...onHub, ...onBase].map(({ address }) => address))
    expect(others.filter(({ address }) => own.has(address))).toEqual([])
  })

  test('is refused to a key that may not initialize, and with a file that cannot be meant', async () => {
    await writeSettlement()
    const stranger = { DEPLOYER_PRIVATE_KEY: strangerKey }
    const refused = await command(['contracts', 'deploy', ...flags('hub')], stranger)
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('initializer')])
    await writeSettlement({ oracleThreshold: 4 })
    const unmet = await command(['contracts', 'deploy', ...flags('hub')], withKey)
    expect([unmet.code, unmet.output]).toEqual([1, expect.stringContaining('more signatures than oracles')])
    await writeSettlement({ depositories: [{ chain: 'solana' }] })
    const incomplete = await command(['contracts', 'deploy', ...flags('hub')], withKey)
    expect([incomplete.code, incomplete.output]).toEqual([
      1,
      expect.stringContaining('solana.domain is needed'),
    ])
  })

  test('O-152: a stranger who deploys it first names no owner: the command does', async () => {
    await writeSettlement()
    const [ledger] = await planned('hub')
    const { initCode, salt, address } = planSettlement('local', deployerAddress, []).hub
    expect(ledger?.address).toBe(address)
    expect(
      await sendFrom(strangerKey, hub.url, { to: create2Proxy, data: concatHex([salt, initCode]) }),
    ).toBe('success')
    const thief = privateKeyToAddress(strangerKey)
    const data = encodeFunctionData({ abi: hubAbi, functionName: 'initialize', args: [thief, thief] })
    expect(await sendFrom(strangerKey, hub.url, { to: address, data })).toBe('reverted')
    expect(await ownerOf(hub.url, address)).toBe(zeroAddress)

    const deployed = await command(['contracts', 'deploy', ...flags('hub'), '--json'], withKey)
    expect(deployed.code).toBe(0)
    const all = contractsOf(deployed.output)
    expect(all.map(({ state }) => state)).toEqual(all.map(() => 'ours'))
    for (const contract of all.slice(0, 5)) expect(await ownerOf(hub.url, contract.address)).toBe(owner)
    const again = await command(['contracts', 'deploy', ...flags('hub'), '--json'], withKey)
    expect([again.code, contractsOf(again.output).some(({ isNew }) => isNew)]).toEqual([0, false])
  })

  test('names the oracles, their threshold and who operates the ledger', async () => {
    await writeSettlement()
    // CAST: the command prints addresses.
    const [ledger, oracle, multisig] = (await planned('hub')).map(({ address }) => address as Hex)
    const client = createPublicClient({ transport: http(hub.url) })
    if (ledger === undefined || oracle === undefined || multisig === undefined) throw new Error('not planned')
    const role = await client.readContract({ address: ledger, abi: hubAbi, functionName: 'OPERATOR_ROLE' })
    const operates = (account: Hex) =>
      client.readContract({ address: ledger, abi: hubAbi, functionName: 'hasRole', args: [role, account] })
    expect([await operates(oracle), await operates(owner)]).toEqual([true, false])
    const multisigCall = { address: multisig, abi: oracleMultisigAbi } as const
    expect(await client.readContract({ ...multisigCall, functionName: 'signers' })).toEqual(oracles)
    expect(await client.readContract({ ...multisigCall, functionName: 'threshold' })).toBe(2n)
  })

  test('is written where services read it, and nothing else changes', async () => {
    // Another initializer than in the tests beside this, so that nothing stands there yet.
    await writeSettlement({
      initializer: privateKeyToAddress(strangerKey),
      depositories: [{ chain: 'base' }],
    })
    const configs = join(directory, 'configs')
    await cp(join(repositoryRoot, 'configs'), configs, { recursive: true })
    const file = (name: string) => join(configs, `${name}.local.json`)
    const read = async (name: string) => JSON.parse(await readFile(file(name), 'utf8'))
    const [chains, quote, hubFile] = [await read('chains'), await read('quote'), await read('chains.hub')]
    const paidBefore = `0x${'11'.repeat(20)}`
    const nowhere = `0x${'0'.repeat(40)}`
    const {
      fillContract,
      cleanupRouter,
      depositRouter,
      depositAddresses,
      permitRouter,
      permit2Router,
      ...rest
    } = quote.chains.base
    const draft = { ...chains.chains[0], depository: nowhere, fillContracts: [paidBefore] }
    await writeFile(file('chains'), JSON.stringify({ ...chains, chains: [draft, ...chains.chains.slice(1)] }))
    await writeFile(file('quote'), JSON.stringify({ ...quote, chains: { ...quote.chains, base: rest } }))
    const settlementMembers = {
      hubAddress: nowhere,
      oracleAddress: nowhere,
      oracleMultisigAddress: nowhere,
      genericMappingAddress: nowhere,
      auroraAllocatorAddress: nowhere,
      auroraAllocatorSpenderAddress: nowhere,
    }
    await writeFile(file('chains.hub'), JSON.stringify({ ...hubFile, ...settlementMembers }))

    const own = { CONFIG_DIR: configs, DEPLOYER_PRIVATE_KEY: strangerKey }
    const both = await command(['contracts', 'deploy', ...flags('base'), '--write', '--dry-run'], own)
    expect([both.code, both.output]).toEqual([2, expect.stringContaining('--dry-run')])
    expect(await read('chains.hub')).toMatchObject(settlementMembers)
    for (const chain of ['base', 'hub']) {
      const { code, output } = await command(['contracts', 'deploy', ...flags(chain), '--write'], own)
      expect([code, output]).toEqual([0, expect.stringContaining('wrote ')])
      expect(await command(['contracts', 'verify', ...flags(chain)], own)).toMatchObject({ code: 0 })
      const again = await command(['contracts', 'deploy', ...flags(chain), '--write'], own)
      expect(again.output).not.toContain('wrote ')
    }
    const [depository] = await planned('base')
    expect(await read('chains')).toEqual({
      ...chains,
      chains: [
        { ...draft, depository: depository?.address, fillContracts: [paidBefore, fillContract] },
        ...chains.chains.slice(1),
      ],
    })
    const written = await read('quote')
    const { base: baseWritten, ...others } = written.chains
    const { base: _base, ...othersBefore } = quote.chains
    expect(others).toEqual(othersBefore)
    // Made around another depository than the local network's, by the same code.
    const { sweepCodeHash } = depositAddresses
    const { depositCodeHash } = permitRouter
    expect(baseWritten).toEqual({
      ...rest,
      fillContract,
      cleanupRouter,
      permit2Router,
      depositRouter: expect.any(String),
      depositAddresses: { contract: expect.not.stringMatching(depositAddresses.contract), sweepCodeHash },
      permitRouter: { contract: expect.not.stringMatching(permitRouter.contract), depositCodeHash },
    })
    expect(baseWritten.depositRouter).not.toBe(depositRouter)
    const hubWritten = await read('chains.hub')
    expect({ ...hubWritten, ...settlementMembers }).toEqual({ ...hubFile, ...settlementMembers })
    expect(hubWritten.auroraAllocatorSpenderAddress).toBe(hubWritten.auroraAllocatorAddress)
    expect(Object.values(hubWritten)).not.toContain(nowhere)
  })

  test.each(['listed', 'not listed', 'as 0.2.0 deployed it'])(
    'L-29: a fill contract that is replaced stays believed: %s',
    async (what) => {
      const configs = await mkdtemp(join(directory, 'replaced-'))
      await cp(join(repositoryRoot, 'configs'), configs, { recursive: true })
      const file = (name: string) => join(configs, `${name}.local.json`)
      const read = async (name: string) => JSON.parse(await readFile(file(name), 'utf8'))
      const { address, isKnown } =
        what === 'as 0.2.0 deployed it' ? await earlierContract() : await foreignContract()
      // As a file of 0.1.0, which had no list, or with one.
      const [chains, quote] = [await read('chains'), await read('quote')]
      const { fillContracts, ...entry } = chains.chains[0]
      const [own] = fillContracts
      chains.chains[0] = what === 'listed' ? { ...entry, fillContracts: [address] } : entry
      quote.chains.base.fillContract = address
      await writeFile(file('chains'), JSON.stringify(chains))
      await writeFile(file('quote'), JSON.stringify(quote))

      const variables = { ...withKey, CONFIG_DIR: configs }
      const told = await command(['contracts', 'deploy', '--chain', 'base', '--write'], variables)
      expect([told.code, told.output]).toEqual([0, expect.stringContaining(`kept ${address}`)])
      const code = (await createPublicClient({ transport: http(base.url) }).getCode({ address })) ?? '0x'
      const [written] = (await read('chains')).chains
      expect(written.fillContracts).toEqual([address, own])
      expect(written.codeHashes).toEqual(
        isKnown ? entry.codeHashes : { ...entry.codeHashes, [address]: keccak256(code) },
      )
      expect((await read('quote')).chains.base.fillContract).toBe(own)
      // A start of any service compares the same.
      const { registry, problems } = await startProblems(configs)
      expect([registry.fillContracts, problems]).toEqual([[address, own], []])
      const again = await command(['contracts', 'deploy', '--chain', 'base', '--write'], variables)
      expect(again.output).not.toMatch(/wrote |kept /)
    },
  )

  test('L-29: a contract that is nowhere is not kept', async () => {
    const configs = await mkdtemp(join(directory, 'nowhere-'))
    await cp(join(repositoryRoot, 'configs'), configs, { recursive: true })
    const path = join(configs, 'quote.local.json')
    const quote = JSON.parse(await readFile(path, 'utf8'))
    const { fillContract: own } = quote.chains.base
    quote.chains.base.fillContract = `0x${'79'.repeat(20)}`
    await writeFile(path, JSON.stringify(quote))
    const variables = { ...withKey, CONFIG_DIR: configs }
    const told = await command(['contracts', 'deploy', '--chain', 'base', '--write'], variables)
    expect([told.code, told.output]).toEqual([0, expect.not.stringContaining('kept ')])
    const { chains } = JSON.parse(await readFile(join(configs, 'chains.local.json'), 'utf8'))
    expect(chains[0].fillContracts).toEqual([own])
  })

  test('that somebody else owns is told, and never called deployed', async () => {
    await writeSettlement()
    const [depository] = await planned('optimism')
    const { initCode, salt, address } = planDepository('local', deployerAddress)
    expect(depository?.address).toBe(address)
    await sendFrom(deployerKey, optimism.url, { to: create2Proxy, data: concatHex([salt, initCode]) })
    const thief = privateKeyToAddress(strangerKey)
    const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'initialize', args: [thief, thief] })
    await sendFrom(deployerKey, optimism.url, { to: address, data })
    const told = await command(['contracts', 'deploy', ...flags('optimism')], withKey)
    expect([told.code, told.output]).toEqual([1, expect.stringContaining('not the owner to be named')])
    expect(await command(['contracts', 'deploy', ...flags('base')], withKey)).toMatchObject({ code: 0 })
    expect(await ownerOf(base.url, address)).toBe(owner)
  })
})

describe('the hub of the configuration', () => {
  const settings = [
    'hubAddress',
    'oracleAddress',
    'oracleMultisigAddress',
    'genericMappingAddress',
    'auroraAllocatorAddress',
  ]
  const verify = () => command(['contracts', 'verify', '--chain', 'hub', '--json'])
  const toldSchema = z.object({
    contracts: z.array(z.object({ setting: z.string(), address: z.string(), state: z.string() })),
  })
  const stateOf = (output: string) =>
    new Map(toldSchema.parse(JSON.parse(output)).contracts.map(({ setting, state }) => [setting, state]))

  test('is verified contract by contract: each planted difference is told by its setting', async () => {
    expect(new Set(stateOf((await verify()).output).values())).toEqual(new Set(['missing']))
    // As the local network deploys it.
    const { builders: _none, ...plan } = planSettlement('local', multicall3, [])
    for (const { salt, initCode } of Object.values(plan))
      await sendFrom(deployerKey, hub.url, { to: create2Proxy, data: concatHex([salt, initCode]) })
    const sound = await verify()
    expect(sound.code).toBe(0)
    const states = stateOf(sound.output)
    expect([...states].map(([setting, state]) => [setting.replace('hub.', ''), state])).toEqual(
      settings.map((setting) => [setting, 'ours']),
    )
    const found = toldSchema.parse(JSON.parse(sound.output)).contracts
    for (const { setting, address: told } of found) {
      // CAST: the command prints addresses.
      const address = told as Hex
      const code = await createPublicClient({ transport: http(hub.url) }).getCode({ address })
      if (code === undefined) throw new Error('no code')
      await node(hub.url).setCode({ address, bytecode: `0x00${code.slice(4)}` })
      const { code: exit, output } = await verify()
      const foreign = [...stateOf(output)].filter(([, state]) => state !== 'ours')
      expect([exit, foreign]).toEqual([1, [[setting, 'foreign']]])
      await node(hub.url).setCode({ address, bytecode: code })
    }
  })

  test('is verified with the payload builders that its allocator names, where a file names depositories', async () => {
    // After the test before: allocator and ledger stand, and nobody initialized them.
    const depositories = [
      {
        chainId: 8_453n,
        depository: planDepository('local', multicall3).address,
        builder: { name: 'EvmPayloadBuilder' } as const,
      },
    ]
    const owner = privateKeyToAddress(deployerKey)
    const parties = {
      owner,
      mappingOperator: owner,
      oracles: [owner],
      oracleThreshold: 1,
      allocatorSigner: owner,
    }
    const file = join(directory, 'builders.json')
    const { mappingOperator: _unused, ...said } = parties
    const content = {
      environment: 'local',
      initializer: multicall3,
      ...said,
      depositories: [{ chain: 'base' }],
    }
    await writeFile(file, JSON.stringify(content))
    const verified = async () => {
      const { code, output } = await command([
        ...['contracts', 'verify', '--chain', 'hub', '--settlement', file, '--json'],
      ])
      const builder = contractsOf(output).find(({ name }) => name === 'EvmPayloadBuilder')
      return [code, builder?.state, builder?.address]
    }
    expect(await verified()).toEqual([1, 'missing', zeroAddress])
    const plan = planSettlement('local', multicall3, depositories)
    const [builder] = plan.builders
    if (builder === undefined) throw new Error('no builder is planned')
    const client = node(hub.url)
    await client.impersonateAccount({ address: multicall3 })
    await client.setBalance({ address: multicall3, value: parseEther('1') })
    const wallet = createWalletClient({ account: multicall3, transport: http(hub.url) })
    for (const { contract, data } of settlementInitializations('local', plan, { ...parties, depositories }))
      if (contract.name === 'Allocator')
        await wallet.sendTransaction({ to: contract.address, data, chain: null })
    await client.stopImpersonatingAccount({ address: multicall3 })
    // The settlement of the tests before has the same builder: it knows no owner.
    expect(await verified()).toEqual([0, 'ours', builder.address])

    // Whoever owns the allocator names another builder: its payloads would pay as that one says.
    const [other] = planSettlement('local', multicall3, [
      {
        ...depositories[0],
        chainId: 1n,
        depository: zeroAddress,
        builder: { name: 'BitcoinPayloadBuilder' },
      },
    ]).builders
    if (other === undefined) throw new Error('no builder is planned')
    await sendFrom(deployerKey, hub.url, { to: create2Proxy, data: concatHex([other.salt, other.initCode]) })
    const args = [8_453n, depositories[0]?.depository ?? '', other.address] as const
    const change = encodeFunctionData({ abi: allocatorAbi, functionName: 'setBuilder', args })
    expect(await sendFrom(deployerKey, hub.url, { to: plan.allocator.address, data: change })).toBe('success')
    expect(await verified()).toEqual([1, 'foreign', other.address])
  })
})

test('O-100: drafted files name every contract once all are deployed, and ask for none before it is', async () => {
  const configs = join(directory, 'drafted')
  const flags = ['--chains', 'base,optimism', '--environment', 'own.prod', '--out', configs]
  expect(await command(['config', 'draft', ...flags])).toMatchObject({ code: 0 })
  const settlement = join(directory, 'own-settlement.json')
  await writeFile(
    settlement,
    JSON.stringify({
      environment: 'own.prod',
      initializer: deployerAddress,
      owner: `0x${'90'.repeat(20)}`,
      oracles: [`0x${'01'.repeat(20)}`],
      oracleThreshold: 1,
      allocatorSigner: `0x${'0b'.repeat(20)}`,
      depositories: [{ chain: 'base' }, { chain: 'optimism' }],
    }),
  )
  const own = {
    ...withKey,
    ENVIRONMENT: 'own.prod',
    CONFIG_DIR: configs,
    CAUSEWAY_LOCAL_DIR: '',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    API_KEY_PEPPERS: `v1:${'9e27b1f0'.repeat(8)}`,
    PUBLIC_URL: 'https://api.example',
    ADMIN_API_KEY: 'admin-5d41402abc4b2a76b9',
    MAINNETS_BASE_URL: 'https://api.example',
    TESTNETS_BASE_URL: 'https://api.testnets.example',
  }
  const run = (verb: string, chain: string, ...more: readonly string[]) =>
    command(['contracts', verb, '--chain', chain, '--settlement', settlement, ...more], own)
  const early = await run('verify', 'base')
  expect([early.code, early.output]).toEqual([
    1,
    expect.stringContaining('fill in by contracts deploy: the address of the depository on base'),
  ])
  for (const chain of ['base', 'optimism', 'hub'])
    expect(await run('deploy', chain, '--write'), chain).toMatchObject({ code: 0 })
  for (const chain of ['base', 'optimism', 'hub'])
    expect(await run('verify', chain), chain).toMatchObject({ code: 0 })
  for (const name of ['chains', 'chains.hub', 'quote'])
    expect(await readFile(join(configs, `${name}.own.prod.json`), 'utf8')).not.toContain('fill in')
})
