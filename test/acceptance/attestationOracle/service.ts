// The oracle's facts, its chains, its signatures.
import { chainsFileSchema, hubFileSchema } from '@causeway/core/config'
import { familyKeys, familyPlans } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'
import { deposit, native, noOrder } from '../../../apps/oracle/test/support/protocolActors.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { ask, deposits, isSignedBy, signersOf } from '../support/attesting.ts'
import type { Story } from '../support/oracleStory.ts'
import { type OracleWorld, readConfig } from '../support/oracleWorld.ts'

const amount = '500000000000000000'

export function describeService(at: () => OracleWorld, story: () => Story): void {
  const told = (name: keyof Story) => story()[name].answer.body
  const payer = () => userOf(at().network, 0).address
  /** A deposit that nobody asked about. */
  const newDeposit = async (chain: 'base' | 'optimism' = 'base') => {
    const { network } = at()
    const terms = { currency: native, amount: 7n, id: noOrder }
    return { chainId: chain, transactionId: await deposit(network, chain, userOf(network, 3), terms) }
  }

  describe('facts', () => {
    test('O-service-01: a deposit into a depository is attested', () => {
      const { depository } = at().network.deployment.base
      const { result } = told('deposit').messages[0]
      expect(result).toMatchObject({ depository, depositor: payer(), currency: native, amount })
    })
    test('O-service-01: a withdrawal from a depository is attested, while it waits and when it is executed', () => {
      const { depository } = at().network.deployment.base
      expect(told('withdrawal').message.result).toMatchObject({ depository, status: 0 })
      expect(told('executed').message.result).toMatchObject({ depository, status: 1 })
    })
    test.each(['fill', 'refund'] as const)('O-service-01: a solver %s is attested', (name) => {
      const { data, result } = told(name).message
      expect(result).toMatchObject({ status: 1, orderId: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      expect(data).toMatchObject(story()[name].body)
    })
    test('O-service-01: both steps of a withdrawal address are attested', () => {
      expect(told('initiation').withdrawalAddress).toMatch(/^0x[0-9a-f]{40}$/)
      const { payloadParams } = told('initiated')
      expect(payloadParams).toMatchObject({ chainId: '8453', currency: native, amount })
    })
  })

  test('O-service-02: a chain that no configuration has is refused', async () => {
    const answer = await ask(at().first, deposits, { chainId: 'moon', transactionId: `0x${'1'.repeat(64)}` })
    expect(answer).toMatchObject({ status: 400, body: { errorCode: 'UNKNOWN_CHAIN' } })
  })

  test('O-service-02: the state is read from the configured endpoint, and signed by the one signer', async () => {
    const { quorum, proxies, peers } = at()
    const body = await newDeposit()
    proxies.base.resetCounters()
    const asked = peers.b.questions.length
    const answer = await ask(quorum, deposits, body)
    expect(proxies.base.counters().callsByMethod).toMatchObject({
      eth_getTransactionReceipt: expect.any(Number),
    })
    expect(signersOf(at(), deposits, answer)).toBe('A')
    // A caller who does not ask for peers gets none.
    expect(peers.b.questions).toHaveLength(asked)
  })

  test.each(['deposit', 'fill', 'refund', 'initiation', 'executed'] as const)(
    'O-service-02: for the execution of a %s the signatures of peers are gathered',
    (name) => {
      const { path, answer } = story()[name]
      expect(signersOf(at(), path, answer)).toBe('AB')
      expect(answer.body.execution.signatures).toHaveLength(2)
    },
  )

  test.each(['deposit', 'fill', 'refund', 'executed'] as const)(
    'O-service-03: the message of a %s has its signatures, and the execution its own',
    (name) => {
      const { message, messages = [message], execution } = told(name)
      const ofMessage = messages[0].signatures.map(({ signature }: { signature: string }) => signature)
      const ofExecution = execution.signatures.map(({ signature }: { signature: string }) => signature)
      expect(new Set([...ofMessage, ...ofExecution]).size).toBe(4)
    },
  )

  test.each(['deposit', 'fill', 'refund', 'initiation', 'initiated', 'executed'] as const)(
    'O-service-03: what is signed of a %s is taken by the contracts that settle',
    (name) => {
      expect(story()[name].hub).toBe('accepted')
    },
  )

  describe('VM families', () => {
    test('O-service-04: the six families are enabled and ready', async () => {
      const { body } = await ask(at().first, '/chains/v1')
      const ready = body.chains.filter((chain: { ready: boolean }) => chain.ready)
      expect(new Set(ready.map(({ vmType }: { vmType: string }) => vmType))).toEqual(
        new Set(['ethereum-vm', 'solana-vm', 'bitcoin-vm', 'hyperliquid-vm', 'lighter-vm', 'tron-vm']),
      )
    })

    test.each(familyKeys)('O-service-04: a deposit on %s is attested', async (chainId) => {
      const { transactionId } = at().families.facts[chainId].firstDeposit
      const answer = await ask(at().first, deposits, { chainId, transactionId })
      expect([answer.status, isSignedBy(at(), deposits, answer, at().first)]).toEqual([200, true])
      const { depository } = at().families.facts[chainId]
      const { result } = answer.body.messages[0]
      expect(result.amount).toBe(familyPlans[chainId].firstAmount.toString())
      expect(result.depository.toLowerCase()).toBe(depository.toLowerCase())
    })

    test.each(['base', 'optimism'] as const)('O-service-04: a deposit on %s is attested', async (chain) => {
      const answer = await ask(at().first, deposits, await newDeposit(chain))
      expect([answer.status, isSignedBy(at(), deposits, answer, at().first)]).toEqual([200, true])
      expect(answer.body.messages).toMatchObject([{ result: { amount: '7' } }])
    })
  })

  test('O-service-05: the chains are those of chains.<ENVIRONMENT>.json, the hub that of chains.hub', async () => {
    const file = chainsFileSchema.parse(await readConfig('chains.local.json'))
    const hub = hubFileSchema.parse(await readConfig('chains.hub.local.json'))
    const { body } = await ask(at().first, '/chains/v1')
    const listed = body.chains.map(({ id, vmType }: { id: string; vmType: string }) => [id, vmType])
    expect(listed).toEqual(file.chains.map(({ id, vmType }) => [id, vmType]))
    expect(told('deposit').execution.signatures[0]).toMatchObject({
      oracleChainId: String(hub.evmChainId),
      oracleContract: hub.oracleAddress,
    })
  })

  test('O-service-06: placeholders of the files are read from the environment', async () => {
    const { chains } = chainsFileSchema.parse(await readConfig('chains.local.json'))
    expect(chains.find(({ id }) => id === 'optimism')).toMatchObject({ httpRpcUrl: '$OPTIMISM_RPC_URL' })
    const ready = async (oracle: OracleWorld['first']) => {
      const { body } = await ask(oracle, '/chains/v1')
      return body.chains.find(({ id }: { id: string }) => id === 'optimism').ready
    }
    expect([await ready(at().first), await ready(at().open)]).toEqual([true, false])
  })

  test('O-service-07: without an endpoint every attestation of a chain fails', async () => {
    const { open } = at()
    const transactionId = `0x${'1'.repeat(64)}`
    for (const [path, body] of [
      [deposits, { chainId: 'optimism', transactionId }],
      [story().fill.path, story().fill.body],
    ] as const)
      expect(await ask(open, path, body)).toMatchObject({
        status: 400,
        body: { errorCode: 'CHAIN_UNAVAILABLE' },
      })
    expect((await ask(open, story().deposit.path, story().deposit.body)).status).toBe(200)
  })

  test('O-service-07: with a dead endpoint they fail too, what was attested before included', async () => {
    const { first, proxies } = at()
    const known = await newDeposit('optimism')
    expect((await ask(first, deposits, known)).status).toBe(200)
    const unknown = await newDeposit('optimism')
    await proxies.optimism.set({ kind: 'refuse' })
    try {
      expect((await ask(first, deposits, unknown)).status).toBe(503)
      await expect
        .poll(async () => (await ask(first, deposits, known)).status, { timeout: 60_000, interval: 200 })
        .toBe(503)
    } finally {
      await proxies.optimism.set({ kind: 'pass' })
    }
    await expect
      .poll(async () => (await ask(first, deposits, known)).status, { timeout: 60_000, interval: 100 })
      .toBe(200)
  })

  test('O-service-08: instances beside each other answer the same, each with its signature', async () => {
    const { deposit: question } = story()
    const unsigned = async (oracle: OracleWorld['first']) => {
      const answer = await ask(oracle, question.path, question.body)
      expect(isSignedBy(at(), question.path, answer, oracle)).toBe(true)
      return JSON.stringify(answer.body, (name, value) => (name === 'signatures' ? undefined : value))
    }
    const { first, quorum, open } = at()
    expect(new Set([await unsigned(first), await unsigned(quorum), await unsigned(open)]).size).toBe(1)
  })
}
