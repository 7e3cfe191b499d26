// Goal: the process that holds the allocator's key signs what the contract issued, what the hub holds the money
// for and what enough endpoints show in final blocks: once, over kills, and nothing else. Method: the process as
// an operator runs it, real nodes, and liars between.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hex, hexToBytes, withdrawRequestPayloadId } from '@causeway/core'
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import {
  allocatorAbi,
  depositoryAbi,
  startFaultProxy,
  startKmsStandIn,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  bytes32,
  configFolder,
  freshAddress,
  fund,
  issue,
  issueFinal,
  startAllocator,
  stateFolder,
  usdcRequest,
} from './support/allocatorBench.ts'

let network: TestNetwork
beforeAll(async () => {
  network = await startTestNetwork()
})
afterAll(() => network?.stop())

const ed25519Unset = { ALLOCATOR_ED25519_PRIVATE_KEY: '' }
const isSigned = async ({ signature }: { signature(): Promise<Hex> }) => (await signature()) !== '0x'

describe('the allocator', () => {
  test('signs what was issued once it is final, once over a kill, and the depository pays on it', async () => {
    const stateDirectory = await stateFolder()
    const wanted = usdcRequest(network)
    await fund(network, wanted)
    const first = await startAllocator(network, { stateDirectory })
    await first.ready()
    const issued = await issue(network, wanted)
    expect(await isSigned(issued)).toBe(false)
    await network.mine('hub', 2)
    await waitUntil('it is signed', () => isSigned(issued))
    first.kill('SIGKILL')
    await first.ended

    const second = await startAllocator(network, { stateDirectory })
    const later = await issueFinal(network)
    await waitUntil('the next one is signed', () => isSigned(later))
    expect(second.output()).not.toContain(issued.payloadId)

    const { base } = network.deployment
    const { amount, recipient } = wanted
    const transfer = { abi: erc20Abi, functionName: 'transfer', args: [base.depository, amount] } as const
    const args = [decodeEvmWithdrawal(issued.payload), await issued.signature()] as const
    await network.chains.base.chain.send(network.keys.fillWallet, [
      { what: 'funding', to: base.tokens.USDC, data: encodeFunctionData(transfer) },
      {
        what: 'payout',
        to: base.depository,
        data: encodeFunctionData({ abi: depositoryAbi, functionName: 'execute', args }),
      },
    ])
    const received = await network.chains.base.chain.client.readContract({
      // CAST: the recipient is an address.
      address: base.tokens.USDC,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [recipient as Hex],
    })
    expect(received).toBe(amount)
  })

  test('signs nothing that the hub does not hold the money of, not one unit less', async () => {
    const allocator = await startAllocator(network, { stateDirectory: await stateFolder() })
    await allocator.ready()
    const invented = await issue(network, usdcRequest(network))
    const short = usdcRequest(network)
    await fund(network, short, short.amount - 1n)
    const almost = await issue(network, short)
    const honest = await issueFinal(network)
    await waitUntil('the honest one is signed', () => isSigned(honest))
    for (const one of [invented, almost]) {
      const refusal = `"payloadId":"${one.payloadId}","reason":"the hub does not hold what it pays"`
      await waitUntil('it is refused', () => allocator.output().includes(refusal))
      expect(await isSigned(one)).toBe(false)
    }
  })

  test('signs nothing of a depository that is not its own', async () => {
    const variables = { CONFIG_DIR: await configFolder([{ chain: 'optimism' }]), ...ed25519Unset }
    const allocator = await startAllocator(network, { stateDirectory: await stateFolder(), variables })
    await allocator.ready()
    const issued = await issueFinal(network)
    const refusal = `"payloadId":"${issued.payloadId}","reason":"its depository is not signed for here"`
    await waitUntil('it is refused', () => allocator.output().includes(refusal))
    expect(await isSigned(issued)).toBe(false)
  })

  test('L-98: signs by a key in a key management service as by one in a file', async () => {
    const { privateKey } = network.keys.allocator
    const kms = await startKmsStandIn({ privateKey: hexToBytes(privateKey) })
    onTestFinished(() => kms.stop())
    const allocator = await startAllocator(network, {
      stateDirectory: await stateFolder(),
      variables: {
        ...ed25519Unset,
        CONFIG_DIR: await configFolder([{ chain: 'base' }]),
        ALLOCATOR_ECDSA_PRIVATE_KEY: '',
        ALLOCATOR_SIGNING_MODULE: 'aws-kms',
        ALLOCATOR_AWS_KMS_SIGNER_KEY_ID: kms.keyId,
        ALLOCATOR_AWS_KMS_SIGNER_KEY_REGION: 'eu-central-1',
        AWS_ENDPOINT_URL_KMS: kms.url,
        AWS_ACCESS_KEY_ID: 'stand-in',
        AWS_SECRET_ACCESS_KEY: 'stand-in',
      },
    })
    await allocator.ready()
    const issued = await issueFinal(network)
    await waitUntil('it is signed', () => isSigned(issued))
    expect(kms.operations.filter((name) => name === 'Sign').length).toBeGreaterThanOrEqual(2)
  })

  test.each([
    ['a key that the contract does not take signatures of', {}, 'takes signatures of'],
    [
      'the key of another service beside its own',
      { ECDSA_PRIVATE_KEY: 'x' },
      'ECDSA_PRIVATE_KEY is another service’s',
    ],
  ])('does not start with %s, and prints none', async (_what, variables, reason) => {
    const { privateKey } = network.keys.deployer
    const allocator = await startAllocator(network, {
      stateDirectory: await stateFolder(),
      variables: { ALLOCATOR_ECDSA_PRIVATE_KEY: privateKey, ...variables },
    })
    expect(await allocator.ended).toBe('exit code 1')
    expect(allocator.output()).toContain(reason)
    expect(allocator.output()).not.toContain(privateKey.slice(2))
  })

  /** Starts over a contract at an address of its own; `codeHashes` of the hub's file. */
  async function startOver(address: Hex, codeHashes: object, hubUrls = [network.chains.hub.url]) {
    const CONFIG_DIR = await configFolder([{ chain: 'base' }])
    const path = join(CONFIG_DIR, 'chains.hub.local.json')
    const hub: object = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...hub, auroraAllocatorAddress: address, codeHashes }))
    const variables = { ...ed25519Unset, CONFIG_DIR }
    return startAllocator(network, { stateDirectory: await stateFolder(), variables, hubUrls })
  }
  /** Code that returns this address to every call: PUSH20, MSTORE, RETURN. */
  const answering = (address: string) => `0x73${address.slice(2).toLowerCase()}5f5260205ff3` as const
  async function place(address: Hex, answer: string): Promise<void> {
    await network.chains.hub.chain.node.setCode({ address, bytecode: answering(answer) })
    await network.mine('hub', 3)
  }

  test('waits for a contract that is not initialized at a final block yet, and not for ever', async () => {
    const nobody = `0x${'0'.repeat(40)}`
    const [late, never] = [freshAddress(), freshAddress()]
    await place(late, nobody)
    await place(never, nobody)
    const seen = await startFaultProxy({ targetUrl: network.chains.hub.url })
    onTestFinished(() => seen.stop())
    const refused = await startOver(never, { [never]: 'unchecked' })
    const waiting = await startOver(late, { [late]: 'unchecked' }, [seen.url])
    const asked = () => seen.counters().callsByMethod['eth_call'] ?? 0
    await waitUntil('it has asked whose signatures count', async () => asked() > 1)
    await place(late, network.keys.allocator.address)
    await waiting.ready()
    expect(await refused.ended).toBe('exit code 1')
    expect(refused.output()).toContain(`takes signatures of ${nobody} alone`)
  })

  test('does not start over a contract of a stranger that names its key, unless codeHashes leaves it unchecked', async () => {
    const strangers = freshAddress()
    await place(strangers, network.keys.allocator.address)
    const start = (codeHashes: object) => startOver(strangers, codeHashes)
    const refused = await start({})
    expect(await refused.ended).toBe('exit code 1')
    expect(refused.output()).toContain('shows other code at hub: auroraAllocatorAddress')
    const unchecked = await start({ [strangers]: 'unchecked' })
    await unchecked.ready()
    expect(unchecked.output()).toContain('code_unchecked')
  })

  test('tells operators what it does, and ends well when it is asked to', async () => {
    const allocator = await startAllocator(network, { stateDirectory: await stateFolder() })
    await allocator.ready()
    await waitUntil('it is ready', async () => (await allocator.ask('/ready')).status === 200)
    await waitUntil('it has read the hub', async () =>
      /allocator_final_block\{[^}]*\} [1-9]/.test((await allocator.ask('/metrics')).text),
    )
    allocator.kill('SIGTERM')
    expect(await allocator.ended).toBe('exit code 0')
    expect(allocator.output()).not.toContain(network.keys.allocator.privateKey.slice(2))
  })
})

describe('an endpoint that invents a payload', () => {
  /** A payment to himself, with events, state and money that nobody else sees. */
  async function liar() {
    const request = usdcRequest(network, { recipient: freshAddress() })
    const payloadId = withdrawRequestPayloadId(request)
    const { tokens } = network.deployment.base
    // CAST: a currency on Base is an address.
    const to = tokens.USDC as Hex
    // CAST: the recipient is an address.
    const args = [request.recipient as Hex, request.amount] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    const payload = encodeEvmWithdrawal({
      calls: [{ to, data, value: 0n, allowFailure: false }],
      nonce: BigInt(payloadId),
      expiration: 4_000_000_000n,
    })
    const { recipient, ...rest } = request
    const [submitted] = allocatorAbi.filter(
      (one) => one.type === 'event' && one.name === 'WithdrawRequestSubmitted',
    )
    if (submitted?.type !== 'event') throw new Error('no such event')
    const events = [
      {
        topics: encodeEventTopics({
          abi: allocatorAbi,
          eventName: 'WithdrawRequestSubmitted',
          args: { payloadId },
        }),
        data: encodeAbiParameters([submitted.inputs[1]], [{ ...rest, receiver: recipient }]),
      },
      {
        topics: encodeEventTopics({ abi: allocatorAbi, eventName: 'PayloadBuilt', args: { payloadId } }),
        data: encodeAbiParameters([{ type: 'bytes' }, { type: 'uint256' }], [payload, 1n]),
      },
    ]
    const { client } = network.chains.hub.chain
    const block = await client.getBlock({ blockTag: 'finalized' })
    const number = Number(block.number)
    const logs = events.map((event, index) => ({
      ...event,
      address: network.deployment.hub.allocator,
      removed: false,
      blockNumber: `0x${number.toString(16)}`,
      blockHash: block.hash,
      logIndex: `0x${(900 + index).toString(16)}`,
      transactionHash: bytes32(1),
      transactionIndex: '0x0',
    }))
    const proxy = await startFaultProxy({ targetUrl: network.chains.hub.url })
    onTestFinished(() => proxy.stop())
    const sent: string[] = []
    const stateOf = { payloads: '0x58722672', payloadIdOf: '0x8c02013f', balanceOf: '0x00fdd58e' }
    proxy.set({
      kind: 'lie',
      rewrite({ method, params }, result) {
        const text = JSON.stringify(params)
        if (method === 'eth_sendRawTransaction') sent.push(text)
        if (method === 'eth_getLogs') {
          // CAST: a filter, as the method takes it.
          const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
          const isInside = Number(fromBlock) <= number && number <= Number(toBlock)
          // CAST: a list of logs, as the method answers.
          return isInside ? [...(result as unknown[]), ...logs] : result
        }
        if (method !== 'eth_call') return result
        if (text.includes(`${stateOf.payloads}${payloadId.slice(2)}`))
          return encodeAbiParameters([{ type: 'bytes' }], [payload])
        if (text.includes(`${stateOf.payloadIdOf}${request.spender.slice(2).padStart(64, '0')}`))
          return payloadId
        return text.includes(stateOf.balanceOf) ? bytes32(10n ** 30n) : result
      },
    })
    return { payloadId, url: proxy.url, sent: () => sent.join('\n') }
  }

  test('L-94: as one of three gets no signature out, and stops nobody else’s', async () => {
    const { payloadId, url, sent } = await liar()
    const honest = await Promise.all([
      startFaultProxy({ targetUrl: network.chains.hub.url }),
      startFaultProxy({ targetUrl: network.chains.hub.url }),
    ])
    onTestFinished(async () => void (await Promise.all(honest.map((one) => one.stop()))))
    const hubUrls = [url, ...honest.map((one) => one.url)]
    const stateDirectory = await stateFolder()
    const allocator = await startAllocator(network, { stateDirectory, hubUrls })
    await allocator.ready()
    const issued = await issueFinal(network)
    await waitUntil('the true one is signed', () => isSigned(issued))
    // The count is on disk before the signature is made.
    const counted = await readFile(join(stateDirectory, 'signing-caps.jsonl'), 'utf8')
    expect(counted).toContain(issued.payloadId)
    expect(counted).not.toContain(payloadId)
    expect(sent()).not.toContain(payloadId.slice(2))
    expect(allocator.output()).not.toContain(payloadId)
  })

  test('as the only one gets it: what holds is the agreement', async () => {
    const { payloadId, url, sent } = await liar()
    await startAllocator(network, { stateDirectory: await stateFolder(), hubUrls: [url] })
    await waitUntil('the lie is signed', () => sent().includes(payloadId.slice(2)))
  })
})
