// Goal: the local cluster refuses and shows versions of transactions as nodes do, so that a service that asks for too few
// of them fails here too. Method: version 1 by the library that writes it, read by the client library and as text.
// @source SIMD-0385, SIMD-0296; Agave, custom_error.rs, rpc_subscriptions.rs
import { memo } from '@causeway/localnet/standIns/solana'
import { VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'
import { signVersion1 } from './solanaSupport/version1.ts'

let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

describe('a node', () => {
  const asked = (max?: number) => ({
    commitment: 'confirmed',
    rewards: false,
    ...(max !== undefined && { maxSupportedTransactionVersion: max }),
  })
  const call = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return (await fetch(bed.url, { method: 'POST', body })).json()
  }

  test('refuses a transaction and its block where version 1 is not asked for, and shows both where it is', async () => {
    const signature = await bed.send([memo('hello')], { version: 1 })
    const { slot } = (await bed.connection.getSignatureStatuses([signature])).value[0] ?? { slot: 0 }
    const refused = { error: { code: -32_015, message: expect.stringContaining('Transaction version (1)') } }
    for (const max of [undefined, 0]) {
      expect(await call('getTransaction', [signature, asked(max)])).toMatchObject(refused)
      expect(await call('getBlock', [slot, asked(max)])).toMatchObject(refused)
      for (const transactionDetails of ['signatures', 'none']) {
        const shown = await call('getBlock', [slot, { ...asked(max), transactionDetails }])
        expect(shown).toHaveProperty('result.blockhash')
        expect(shown).toMatchObject(
          transactionDetails === 'none' ? {} : { result: { signatures: [signature] } },
        )
      }
    }
    const block = await bed.connection.getBlock(slot, {
      commitment: 'confirmed',
      rewards: false,
      maxSupportedTransactionVersion: 1,
    })
    expect(block?.transactions).toMatchObject([{ version: 1, transaction: { signatures: [signature] } }])
    expect(block?.transactions[0]?.transaction.message.version).toBe(1)
  })

  test('tells of blocks by websocket, and goes no further than one that it may not show', async () => {
    const told = async (max: number | undefined) => {
      const socket = new WebSocket(bed.url.replace('http', 'ws'))
      onTestFinished(() => socket.terminate())
      const messages: unknown[] = []
      await new Promise((resolve) => socket.once('open', resolve))
      const subscribed = new Promise((resolve) => socket.once('message', resolve))
      socket.on('message', (data) => {
        const { params } = z.object({ params: z.unknown().optional() }).parse(JSON.parse(data.toString()))
        if (params !== undefined) messages.push(Object(Object(params).result).value)
      })
      const params = ['all', asked(max)]
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'blockSubscribe', params }))
      await subscribed
      const signature = await bed.send([memo(`told ${max}`)], { version: 1 })
      await bed.send([memo('later')], { version: 'legacy' })
      await expect.poll(() => messages.length, { timeout: 10_000 }).toBeGreaterThan(1)
      return { messages, signature }
    }
    for (const max of [undefined, 0]) {
      const { messages } = await told(max)
      expect(messages.slice(0, 2)).toMatchObject([
        { block: null, err: { UnsupportedTransactionVersion: 1 } },
        { block: null, err: { UnsupportedTransactionVersion: 1 } },
      ])
    }
    const { messages, signature } = await told(1)
    expect(messages.slice(0, 2)).toMatchObject([
      { err: null, block: { transactions: [{ version: 1, transaction: { signatures: [signature] } }] } },
      { err: null, block: { transactions: [{ version: 'legacy' }] } },
    ])
  })

  test('takes only what its signers signed, in the one form and within the size of its version', async () => {
    const { blockhash } = await bed.connection.getLatestBlockhash()
    const signed = (length: number) =>
      signVersion1({ instructions: [memo('x'.repeat(length))], signers: [bed.user], blockhash })
    const send = (bytes: Uint8Array) => bed.connection.sendRawTransaction(bytes, { maxRetries: 0 })
    const bytes = await signed(10)
    const forged = Uint8Array.from(bytes)
    forged[bytes.length - 70] = 0x79
    await expect(send(forged)).rejects.toThrow(/simulation failed/)
    const before = Buffer.concat([Buffer.of(1), bytes.subarray(-64), bytes.subarray(0, -64)])
    expect(VersionedTransaction.deserialize(before).version).toBe(1)
    await expect(send(before)).rejects.toThrow(/deserialize/)
    await expect(send(Buffer.concat([bytes, Buffer.alloc(4_096)]))).rejects.toThrow(/deserialize/)
    const overhead = (await signed(0)).length
    expect((await signed(4_096 - overhead)).length).toBe(4_096)
    await send(await signed(4_096 - overhead))
    const message = Buffer.from(bytes.subarray(0, -64)).toString('base64')
    expect(await call('getFeeForMessage', [message, {}])).toMatchObject({ result: { value: 5_000 } })
    const simulated = await call('simulateTransaction', [
      Buffer.from(bytes).toString('base64'),
      { encoding: 'base64', replaceRecentBlockhash: true },
    ])
    expect(simulated).toMatchObject({ result: { value: { err: null } } })
  })
})
