// Goal: the hub accepts exactly what two of its three oracles signed over the protocol's execution, by
// ascending signers, once (rule P-68). Method: as deployed, on a real node.

import { hubAbi, hubOracleAbi, oracleMultisigAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  pad,
  parseEventLogs,
  slice,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HubDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

type Execution = { readonly idempotencyKey: Hex; readonly actions: readonly Hex[] }

const types = {
  Execution: [
    { name: 'idempotencyKey', type: 'bytes32' },
    { name: 'actions', type: 'bytes[]' },
  ],
} as const
const tokenId = 0xa7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab7n

let bench: ContractBench<HubDeployment>
let oracles: readonly LocalAccount[]
let anyone: LocalAccount

beforeAll(async () => {
  bench = await startHubBench()
  // BigInt, because checksums make a string order of addresses depend on their letters' case.
  oracles = [...bench.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  anyone = bench.keys.fillWallet
})
afterAll(() => bench?.stop())

const uint8 = { type: 'uint8' } as const
const address = { type: 'address' } as const
const uint256 = { type: 'uint256' } as const
const mint = (to: Hex, amount: bigint) =>
  encodeAbiParameters([uint8, address, uint256, uint256], [0, to, tokenId, amount])
const burn = (from: Hex, amount: bigint) =>
  encodeAbiParameters([uint8, address, uint256, uint256], [1, from, tokenId, amount])
const transfer = (from: Hex, to: Hex, amount: bigint) =>
  encodeAbiParameters([uint8, address, address, uint256, uint256], [2, from, to, tokenId, amount])

let keysUsed = 0
function execution(...actions: readonly Hex[]): Execution {
  keysUsed += 1
  return { idempotencyKey: toHex(keysUsed, { size: 32 }), actions }
}

type Domain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Hex
}
const domain = (): Domain => ({
  name: 'RelayOracle',
  version: '2',
  chainId: bench.chain.chainId,
  verifyingContract: bench.deployment.oracle,
})

/** The signatures of these oracles, in the order given. */
async function signed(
  message: Execution,
  by: readonly LocalAccount[],
  other: Partial<Domain> = {},
): Promise<Hex> {
  const signatures = await Promise.all(
    by.map(({ privateKey }) =>
      privateKeyToAccount(privateKey).signTypedData({
        domain: { ...domain(), ...other },
        types,
        primaryType: 'Execution',
        message,
      }),
    ),
  )
  return concatHex(signatures)
}

function executeData(message: Execution, signature: Hex, oracle: Hex = bench.deployment.oracleMultisig): Hex {
  return encodeFunctionData({
    abi: hubOracleAbi,
    functionName: 'execute',
    args: [message, oracle, signature],
  })
}

const oracleAt = (index: number) => oracles[index] ?? freshAccount()
/** The oracles by ascending address. */
const first = () => oracleAt(0)
const second = () => oracleAt(1)
const third = () => oracleAt(2)
const execute = async (message: Execution) =>
  bench.send(
    anyone,
    bench.deployment.oracle,
    executeData(message, await signed(message, [first(), second()])),
  )
const refusal = (data: Hex) => bench.revert(anyone, bench.deployment.oracle, data)
const balanceOf = (holder: Hex) =>
  bench.chain.client.readContract({
    address: bench.deployment.hub,
    abi: hubAbi,
    functionName: 'balanceOf',
    args: [holder, tokenId],
  })
const isExecuted = ({ idempotencyKey }: Execution) =>
  bench.chain.client.readContract({
    address: bench.deployment.oracle,
    abi: hubOracleAbi,
    functionName: 'isExecuted',
    args: [idempotencyKey],
  })

describe('digests', () => {
  test('an execution hashes to the published vector of the protocol', async () => {
    // The published deposit of order B, on the contract at this very address.
    const verifyingContract: Hex = '0x795f9464ee05a34fe1e18925ca4e4753dcd60058'
    const { node, client } = bench.chain
    await node.setCode({
      address: verifyingContract,
      bytecode: bench.artifacts.HubOracle.runtimeBytecode,
    })
    const contract = { address: verifyingContract, abi: hubOracleAbi } as const
    expect(await client.readContract({ ...contract, functionName: 'DOMAIN_SEPARATOR' })).toBe(
      '0xf91ef33124fc43f413354da3fff82ba3e4e078b51414efd397e632d46da4743d',
    )
    const message: Execution = {
      idempotencyKey: '0x92f8ee69568e8b3d16a91449326ae6ff4b1f1cd5d4993b05dcd562b9b8d1b74d',
      actions: [mint('0x48dd97456ea2aed0520f5386f4146f867c61e565', 10n ** 18n)],
    }
    const digest = await client.readContract({
      ...contract,
      functionName: 'hashExecution',
      args: [message],
    })
    expect(digest).toBe('0x6a0caa59240256cc2f4b223765795761f81feab29c8262d367bf27127b926335')
  })
})

describe('executions', () => {
  test('mint, move and burn balances and leave one event', async () => {
    const [order, solver] = [freshAccount().address, freshAccount().address]
    await execute(execution(mint(order, 100n)))
    expect(await balanceOf(order)).toBe(100n)

    const fill = execution(transfer(order, solver, 100n), transfer(solver, order, 1n))
    const receipt = await execute(fill)
    expect(await Promise.all([balanceOf(order), balanceOf(solver)])).toEqual([1n, 99n])
    expect(await isExecuted(fill)).toBe(true)
    const events = parseEventLogs({ abi: hubOracleAbi, logs: receipt.logs, eventName: 'Executed' })
    expect(events.map(({ args }) => args)).toEqual([fill])

    await execute(execution(burn(solver, 99n)))
    expect(await balanceOf(solver)).toBe(0n)
  })

  test('any two of the three oracles are enough, and a third signature does no harm', async () => {
    const holder = freshAccount().address
    const pairs = [
      [first(), third()],
      [second(), third()],
      [first(), second(), third()],
    ]
    for (const by of pairs) {
      const message = execution(mint(holder, 1n))
      await bench.send(anyone, bench.deployment.oracle, executeData(message, await signed(message, by)))
    }
    expect(await balanceOf(holder)).toBe(3n)
  })

  test('only the first two signatures are read', async () => {
    const message = execution(mint(freshAccount().address, 1n))
    const signatures = await signed(message, [first(), second(), freshAccount()])
    await bench.send(anyone, bench.deployment.oracle, executeData(message, signatures))
    expect(await isExecuted(message)).toBe(true)
  })

  test('a key is executed once', async () => {
    const message = execution(mint(freshAccount().address, 1n))
    await execute(message)
    const again = executeData(message, await signed(message, [first(), third()]))
    expect(await refusal(again)).toBe('AlreadyExecuted')
  })

  test('an action that cannot be applied undoes the whole execution', async () => {
    const holder = freshAccount().address
    const tooMuch = execution(mint(holder, 5n), burn(holder, 6n))
    const data = executeData(tooMuch, await signed(tooMuch, [first(), second()]))
    expect(await refusal(data)).toBe('InsufficientBalance')
    const unknown = execution(pad('0x03', { size: 32 }))
    const unknownData = executeData(unknown, await signed(unknown, [first(), second()]))
    expect(await refusal(unknownData)).toBe('InvalidActionType')
    expect(await isExecuted(tooMuch)).toBe(false)
  })
})

describe('signatures that the hub refuses', () => {
  let message: Execution
  beforeAll(() => {
    message = execution(mint(freshAccount().address, 1n))
  })

  test.each<[string, () => Promise<Hex>]>([
    ['one where two are needed', () => signed(message, [first()])],
    ['in descending order', () => signed(message, [second(), first()])],
    ['one oracle twice', () => signed(message, [first(), first()])],
    ['an outsider beside an oracle', async () => sortedWithOutsider(message)],
    ['none', async () => '0x'],
    ['cut short', async () => slice(await signed(message, [first(), second()]), 0, 129)],
    ['over another version', () => signed(message, [first(), second()], { version: '1' })],
    ['over another name', () => signed(message, [first(), second()], { name: 'Other' })],
    ['over another chain', () => signed(message, [first(), second()], { chainId: 1 })],
    [
      'over another contract',
      () => signed(message, [first(), second()], { verifyingContract: bench.deployment.hub }),
    ],
    ['over another key', () => signed({ ...message, idempotencyKey: pad('0xff') }, [first(), second()])],
    ['with a high s', async () => withHighS(await signed(message, [first(), second()]))],
    ['with v 0 or 1', async () => withSmallV(await signed(message, [first(), second()]))],
  ])('%s', async (_what, signature) => {
    expect(await refusal(executeData(message, await signature()))).toBe('InvalidSignature')
    expect(await isExecuted(message)).toBe(false)
  })

  test('one oracle alone, named as the oracle', async () => {
    const data = executeData(message, await signed(message, [first()]), first().address)
    expect(await refusal(data)).toBe('UnauthorizedOracle')
  })

  test('the same message with the right signatures passes', async () => {
    await execute(message)
    expect(await isExecuted(message)).toBe(true)
  })

  async function sortedWithOutsider(over: Execution): Promise<Hex> {
    const pair = [first(), freshAccount()]
    return signed(
      over,
      pair.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1)),
    )
  }
})

describe('several executions at once', () => {
  test('known keys are skipped and failing ones do not stop the others', async () => {
    const holder = freshAccount().address
    const [known, failing, good] = [
      execution(mint(holder, 1n)),
      execution(burn(holder, 1_000n)),
      execution(mint(holder, 10n)),
    ]
    await execute(known)
    const all = [known, failing, good]
    const signatures = await Promise.all(all.map((one) => signed(one, [first(), second()])))
    const data = encodeFunctionData({
      abi: hubOracleAbi,
      functionName: 'executeMultiple',
      args: [all, bench.deployment.oracleMultisig, signatures],
    })
    const { logs } = await bench.send(anyone, bench.deployment.oracle, data)
    const events = parseEventLogs({ abi: hubOracleAbi, logs, eventName: ['Executed', 'ExecutionFailed'] })
    expect(events.map(({ eventName, args }) => [eventName, args.idempotencyKey])).toEqual([
      ['ExecutionFailed', failing.idempotencyKey],
      ['Executed', good.idempotencyKey],
    ])
    expect(await balanceOf(holder)).toBe(11n)
    expect(await isExecuted(failing)).toBe(false)
  })

  test('every execution needs a signature', async () => {
    const data = encodeFunctionData({
      abi: hubOracleAbi,
      functionName: 'executeMultiple',
      args: [[execution()], bench.deployment.oracleMultisig, []],
    })
    expect(await refusal(data)).toBe('LengthMismatch')
  })
})

describe('the multisig', () => {
  test('answers EIP-1271 with its value or with another, and knows its signers', async () => {
    const contract = { address: bench.deployment.oracleMultisig, abi: oracleMultisigAbi } as const
    const { client } = bench.chain
    const message = execution()
    const digest = hashTypedData({ domain: domain(), types, primaryType: 'Execution', message })
    const ask = async (signature: Hex) =>
      client.readContract({ ...contract, functionName: 'isValidSignature', args: [digest, signature] })
    expect(await ask(await signed(message, [first(), second()]))).toBe('0x1626ba7e')
    expect(await ask(await signed(message, [second(), first()]))).toBe('0xffffffff')

    const signers = await client.readContract({ ...contract, functionName: 'signers' })
    expect(signers.map((signer) => signer.toLowerCase()).sort()).toEqual(
      bench.keys.oracles.map((oracle) => oracle.address).sort(),
    )
    expect(await client.readContract({ ...contract, functionName: 'threshold' })).toBe(2n)
  })

  test('takes a new set from its owner, and no set that cannot sign', async () => {
    const set = (signers: readonly Hex[], threshold: bigint) =>
      encodeFunctionData({
        abi: oracleMultisigAbi,
        functionName: 'setSigners',
        args: [signers, threshold],
      })
    const { deployer, oracles: known } = bench.keys
    const { oracleMultisig } = bench.deployment
    const addresses = known.map((oracle) => oracle.address)
    expect(await bench.revert(anyone, oracleMultisig, set(addresses, 1n))).toBe('NotOwner')
    expect(await bench.revert(deployer, oracleMultisig, set(addresses, 0n))).toBe('InvalidThreshold')
    expect(await bench.revert(deployer, oracleMultisig, set(addresses, 4n))).toBe('InvalidThreshold')
    const twice = set([known[0].address, known[0].address], 2n)
    expect(await bench.revert(deployer, oracleMultisig, twice)).toBe('InvalidSigner')

    const outsider = freshAccount()
    await bench.send(deployer, oracleMultisig, set([outsider.address], 1n))
    const message = execution()
    const old = executeData(message, await signed(message, [first(), second()]))
    expect(await refusal(old)).toBe('InvalidSignature')
    const data = executeData(message, await signed(message, [outsider]))
    await bench.send(anyone, bench.deployment.oracle, data)
    await bench.send(deployer, oracleMultisig, set(addresses, 2n))
  })
})

/** The first of the signatures in its other spelling: s negated, v flipped. */
function withHighS(signatures: Hex): Hex {
  const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = BigInt(slice(signatures, 32, 64))
  const v = slice(signatures, 64, 65) === '0x1b' ? '0x1c' : '0x1b'
  const spelling = [slice(signatures, 0, 32), toHex(curveOrder - s, { size: 32 }), v] as const
  return concatHex([...spelling, slice(signatures, 65)])
}

/** The first of the signatures with its recovery bit bare. */
function withSmallV(signatures: Hex): Hex {
  const v = slice(signatures, 64, 65) === '0x1b' ? '0x00' : '0x01'
  return concatHex([slice(signatures, 0, 64), v, slice(signatures, 65)])
}
