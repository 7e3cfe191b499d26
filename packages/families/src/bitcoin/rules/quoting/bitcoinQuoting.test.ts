// Goal: a deposit of Bitcoin spends the user's own outputs alone, pays the depository exactly, names its order, and gives
// the rest back; what cannot be signed is refused by name. Who gains by breaking it: an endpoint that names outputs of
// somebody else or in another order, a user who has too little, a page that prices for nobody.

import type { Hex } from '@causeway/core'
import { bytesToHex, hexDigits } from '@causeway/core'
import { bitcoinMainnet, createBitcoinCodec } from '@causeway/core/encodings'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { Psbt, payments, type Signer, Transaction } from 'bitcoinjs-lib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OriginRoute, OutputChoice } from '../../../rules/originRoute.ts'
import type { PlannedTransaction, SpendableOutput } from '../../../rules/plannedTransaction.ts'
import { SolanaFees } from '../../../solana/rules/quoting/solanaFees.ts'
import { orderScript, outputScript, scriptAddress } from '../script.ts'
import { BitcoinFees } from './bitcoinFees.ts'
import { bitcoinQuoting } from './bitcoinQuoting.ts'
import { inputsMax } from './fundTransaction.ts'
import { dustOf, inputKindOf, virtualBytesOf } from './virtualSize.ts'

const orderId = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4'
const depository = 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu'
const codec = createBitcoinCodec()
const quoting = bitcoinQuoting.bind({ chainId: 8_253_038, codec, depository })
const native = { address: codec.nativeCurrency, isNative: true, resetsAllowance: false }
const secret = Uint8Array.from(Buffer.from('01'.repeat(32), 'hex'))
const publicKey = secp256k1.getPublicKey(secret, true)
const signer: Signer = { publicKey, sign: (hash) => secp256k1.sign(hash, secret).toCompactRawBytes() }
const internalKey = publicKey.subarray(1)

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('nothing there')
  return value
}
const scripts = {
  'public-key-hash': present(payments.p2pkh({ pubkey: publicKey }).output),
  'wrapped-witness': present(payments.p2sh({ redeem: payments.p2wpkh({ pubkey: publicKey }) }).output),
  witness: present(payments.p2wpkh({ pubkey: publicKey }).output),
} as const
type Kind = keyof typeof scripts
const tweak = BigInt(`0x${hexDigits(schnorr.utils.taggedHash('TapTweak', internalKey))}`)
const internalPoint = secp256k1.ProjectivePoint.fromHex(Uint8Array.from([2, ...internalKey]))
const taprootPoint = internalPoint.add(secp256k1.ProjectivePoint.BASE.multiply(tweak))
const taprootScript = Uint8Array.from([0x51, 32, ...taprootPoint.toRawBytes(true).subarray(1)])
const addressOf = (script: Uint8Array) => present(scriptAddress(script, bitcoinMainnet))

function routeOf(user: string, change: Partial<OriginRoute> = {}): OriginRoute {
  const amount = change.amountIn ?? 100_000n
  return {
    user,
    recipient: '0x',
    by: 'deposit',
    currencyIn: native,
    currencyOut: native,
    swap: undefined,
    amountIn: amount,
    amountInMax: amount,
    amountOut: 1n,
    amountOutMin: 1n,
    deposited: { currency: native, amount },
    ...change,
  }
}
const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined } as const
const fees = new BitcoinFees({ satPerKvb: 9_174n })
const plan = (route: OriginRoute, spendable?: readonly SpendableOutput[], at = fees): PlannedTransaction =>
  present(quoting.plan(route, { allowance: undefined, spendable, fees: at })[0])
const encode = (planned: PlannedTransaction, route: OriginRoute) =>
  String(quoting.encode(planned, route, { identity, fees }).data['psbt'])

/** Outputs of one script, made by one transaction. */
function outputsOf(script: Uint8Array, values: readonly bigint[]): readonly SpendableOutput[] {
  const funding = new Transaction()
  funding.addInput(new Uint8Array(32).fill(7), 0)
  for (const value of values) funding.addOutput(script, value)
  const transaction = bytesToHex(funding.toBuffer())
  return values.map((value, vout) => ({
    txid: funding.getId(),
    vout,
    value,
    script: bytesToHex(script),
    ...(script !== taprootScript && { transaction }),
  }))
}
const aa = present(outputsOf(scripts.witness, [200_000n])[0])
/** A PSBT without the transactions that its inputs show. */
function withoutTransactions(psbt: string): string {
  const shown = Psbt.fromHex(psbt)
  for (const input of shown.data.inputs) delete input.nonWitnessUtxo
  return shown.toHex()
}

describe('the transaction of a deposit', () => {
  test('is the vector of the fact sheet, byte by byte', () => {
    const route = routeOf(addressOf(scripts.witness))
    const psbt = encode(plan(route, [aa]), route)
    expect(psbt).toMatch(/^70736274ff0100be0200000001[0-9a-f]{64}00000000/)
    expect(withoutTransactions(psbt).length / 2).toBe(237)
    const { txOutputs, txInputs } = Psbt.fromHex(psbt)
    expect(txInputs.map(({ sequence }) => sequence)).toEqual([0xffff_fffd])
    expect(txOutputs.map(({ value }) => value)).toEqual([100_000n, 0n, 98_000n])
    expect(txOutputs.map(({ script }) => hexDigits(script))).toEqual([
      hexDigits(outputScript(depository, bitcoinMainnet)),
      `6a42${Buffer.from(orderId).toString('hex')}`,
      hexDigits(scripts.witness),
    ])
  })

  test.each([...(Object.keys(scripts) as Kind[]), 'taproot' as const])(
    'of %s is what the library builds, byte by byte',
    (kind) => {
      const script = kind === 'taproot' ? taprootScript : scripts[kind]
      const shown = {
        ...(kind === 'wrapped-witness' && { redeemScript: scripts.witness }),
        ...(kind === 'taproot' && { tapInternalKey: internalKey }),
      }
      // More than 252 outputs of one transaction take a longer count.
      const spendable = outputsOf(
        script,
        Array.from({ length: 300 }, (_, index) => 70_000n + BigInt(index)),
      )
      for (const amountIn of [60_000n, 250_000n, 60_000n * 90n]) {
        const route = routeOf(addressOf(script), { amountIn, userPublicKey: hexDigits(publicKey) })
        const planned = plan(route, spendable)
        const psbt = encode(planned, route)
        if (planned.funding?.kind !== 'chosen') throw new Error('it is paid for')
        const library = new Psbt()
        library.setVersion(2)
        for (const { txid: hash, vout: index, value, transaction = '' } of planned.funding.inputs)
          library.addInput({
            hash,
            index,
            sequence: 0xffff_fffd,
            ...(kind !== 'taproot' && { nonWitnessUtxo: Buffer.from(transaction.slice(2), 'hex') }),
            ...(kind !== 'public-key-hash' && { witnessUtxo: { script, value }, ...shown }),
          })
        library.addOutputs([...Psbt.fromHex(psbt).txOutputs])
        expect(psbt).toBe(library.toHex())
      }
    },
  )

  test.each(Object.keys(scripts) as Kind[])(
    'is signed by the key of %s, and no larger than it was reckoned',
    (kind) => {
      for (const count of [1, 2, 5]) {
        const route = routeOf(addressOf(scripts[kind]), {
          amountIn: 60_000n * BigInt(count),
          userPublicKey: hexDigits(publicKey),
        })
        const planned = plan(
          route,
          outputsOf(
            scripts[kind],
            Array.from({ length: count }, () => 70_000n),
          ),
        )
        const signed = Psbt.fromHex(encode(planned, route)).signAllInputs(signer).finalizeAllInputs()
        const transaction = signed.extractTransaction()
        const outputs = transaction.outs.map(({ script }) => script)
        const reckoned = virtualBytesOf({ inputs: Array.from({ length: count }, () => kind), outputs })
        expect(transaction.ins).toHaveLength(count)
        expect(transaction.virtualSize()).toBeLessThanOrEqual(reckoned)
        expect(transaction.virtualSize()).toBeGreaterThan(reckoned - count - 1)
        expect(BigInt(signed.getFee())).toBe(planned.networkFee)
      }
    },
  )

  test('of taproot shows the internal key, which has to be that of the address', () => {
    const user = addressOf(taprootScript)
    const spendable = outputsOf(taprootScript, [200_000n])
    for (const key of [publicKey, internalKey]) {
      const route = routeOf(user, { userPublicKey: hexDigits(key) })
      const [input] = Psbt.fromHex(encode(plan(route, spendable), route)).data.inputs
      expect(hexDigits(present(input?.tapInternalKey))).toBe(hexDigits(internalKey))
    }
    const without = routeOf(user)
    expect(
      Psbt.fromHex(encode(plan(without, spendable), without)).data.inputs[0]?.tapInternalKey,
    ).toBeUndefined()
    for (const [key, words] of [
      ['00'.repeat(32), /no point of the curve/],
      [hexDigits(schnorr.getPublicKey(new Uint8Array(32).fill(9))), /not the key of user/],
      ['zz', /no hex/],
    ] as const) {
      const route = routeOf(user, { userPublicKey: key })
      expect(() => encode(plan(route, spendable), route)).toThrow(words)
    }
  })

  test('behind the hash of a script needs its key, and takes no other', () => {
    const user = addressOf(scripts['wrapped-witness'])
    const spendable = outputsOf(scripts['wrapped-witness'], [200_000n])
    const route = routeOf(user)
    expect(() => encode(plan(route, spendable), route)).toThrow(/userPublicKey is needed/)
    const other = routeOf(user, {
      userPublicKey: hexDigits(secp256k1.getPublicKey(new Uint8Array(32).fill(9))),
    })
    expect(() => encode(plan(other, spendable), other)).toThrow(/not the key of user/)
  })

  test('that nobody can pay for says what is there and what is needed', () => {
    const route = routeOf(addressOf(scripts.witness), { amountIn: 200_000n })
    const planned = plan(route, [aa])
    expect(planned.funding).toEqual({
      kind: 'short',
      spendable: 200_000n,
      isOfTooMany: false,
      needed: 200_000n + fees.feeOf(187),
    })
    expect(() => encode(planned, route)).toThrow(/hold 200000 satoshi; the deposit needs 201716 satoshi/)
    // It is priced all the same, as nobody's is.
    expect(fees.costOf(planned)).toBe(fees.feeOf(242))
  })

  test.each([...(Object.keys(scripts) as Kind[]), 'taproot' as const])(
    'F-96: from %s shows what a signer without a network proves its fee by, unless its signature does',
    (kind) => {
      const script = kind === 'taproot' ? taprootScript : scripts[kind]
      const route = routeOf(addressOf(script), { userPublicKey: hexDigits(publicKey) })
      const spendable = outputsOf(script, [70_000n, 60_000n])
      const { inputs } = Psbt.fromHex(encode(plan(route, spendable), route)).data
      expect(inputs).toHaveLength(2)
      inputs.forEach(({ nonWitnessUtxo, witnessUtxo }, index) => {
        const proven = nonWitnessUtxo && Transaction.fromBuffer(nonWitnessUtxo)
        expect(proven?.getId()).toBe(kind === 'taproot' ? undefined : spendable[index]?.txid)
        expect(witnessUtxo?.value).toBe(kind === 'public-key-hash' ? undefined : spendable[index]?.value)
      })
      const unread = spendable.map(({ transaction: _transaction, ...output }) => output)
      if (kind !== 'taproot')
        expect(() => encode(plan(route, unread), route)).toThrow(/shows the transaction/)
    },
  )

  test('F-96: shows a million bytes at most, and says to join outputs where they are not enough', () => {
    const script = scripts.witness
    const large = outputsOf(script, [90_000n, 80_000n, 70_000n]).map((output, index) => ({
      ...output,
      transaction: `0x${'00'.repeat(index === 1 ? 900_000 : 400_000)}` as const,
    }))
    const of = (amountIn: bigint) => plan(routeOf(addressOf(script), { amountIn }), large)
    expect(of(130_000n).funding).toMatchObject({ kind: 'chosen', inputs: [{ vout: 0 }, { vout: 2 }] })
    const route = routeOf(addressOf(script), { amountIn: 200_000n })
    expect(() => encode(plan(route, large), route)).toThrow(/hold 160000 satoshi; .*: join outputs first/)
  })

  test('F-97: spends nothing below the floor unasked, and nothing that the user keeps out', () => {
    const floored = bitcoinQuoting.bind({ chainId: 8_253_038, codec, depository, leastOutput: 10_000n })
    const outputs = outputsOf(scripts.witness, [40_000n, 10_000n, 9_999n, 9_998n])
    const inputsOf = (amountIn: bigint, outputChoice?: OutputChoice) => {
      const route = routeOf(addressOf(scripts.witness), { amountIn, outputChoice })
      const [planned] = floored.plan(route, { allowance: undefined, spendable: outputs, fees })
      const { funding } = present(planned)
      if (funding?.kind === 'chosen') return funding.inputs.map(({ vout }) => vout)
      return () => floored.encode(present(planned), route, { identity, fees })
    }
    expect(inputsOf(45_000n)).toEqual([0, 1])
    expect(inputsOf(55_000n)).toThrow(/hold 50000 satoshi; .* Below 10000 satoshi each .*minimumOutput/)
    expect(inputsOf(55_000n, { excluded: [], least: 9_999n })).toEqual([0, 1, 2])
    const excluded = [`${outputs[0]?.txid}:0`]
    expect(inputsOf(9_000n, { excluded, least: 0n })).toEqual([1, 2])
    expect(inputsOf(9_000n, { excluded })).toThrow(/hold 10000 satoshi/)
  })

  test('of more outputs than a wallet signs says so', () => {
    const user = addressOf(scripts.witness)
    const route = routeOf(user, { amountIn: 1_000_000n })
    const many = outputsOf(
      scripts.witness,
      Array.from({ length: inputsMax + 20 }, () => 10_000n),
    )
    expect(plan(route, many, new BitcoinFees({ satPerKvb: 1_000n })).funding).toMatchObject({
      kind: 'short',
      isOfTooMany: true,
    })
  })

  test('whose outputs were not told in time is priced, and makes no quote', () => {
    const route = routeOf(addressOf(scripts.witness))
    const planned = plan(route)
    expect(fees.costOf(planned)).toBe(fees.feeOf(242))
    expect(() => encode(planned, route)).toThrow(/could not be read in time/)
  })

  test('is planned by fees of its own family, and for deposits alone', () => {
    const route = routeOf(addressOf(scripts.witness))
    const strange = new SolanaFees({
      lamportsPerSignature: 1n,
      microLamportsPerUnit: 1n,
      rentLamportsPerByte: 1n,
    })
    const known = { allowance: undefined, spendable: [aa] }
    expect(() => quoting.plan(route, { ...known, fees: strange })).toThrow(/its own family/)
    for (const by of ['swap', 'wrap', 'signature'] as const)
      expect(() => quoting.plan(routeOf(route.user, { by }), known)).toThrow(/nothing is deposited/)
  })
})

test('a payment of the user to somebody else names no order, and gives the rest back', () => {
  const recipient = addressOf(scripts['public-key-hash'])
  const route = routeOf(addressOf(scripts.witness), { by: 'send', recipient })
  const planned = plan(route, [aa])
  const { txOutputs } = Psbt.fromHex(encode(planned, route))
  expect(txOutputs.map(({ address, value }) => [address, value])).toEqual([
    [recipient, 100_000n],
    [route.user, 100_000n - fees.feeOf(144)],
  ])
  expect(planned.networkFee).toBe(fees.feeOf(144))
  expect(fees.costOf(plan(route))).toBe(fees.feeOf(166))
})

describe('whoever is asked for', () => {
  test.each([
    ['an account that is not chosen yet', codec.nativeCurrency],
    ['what the public client prices for', '34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo'],
    ['what it priced for before', 'bc1q4vxn43l44h30nkluqfxd9eckf45vr2awz38lwa'],
  ])('%s is nobody', (_what, address) => {
    expect(quoting.isNobody(address)).toBe(true)
  })

  test('signs alone, or not at all', () => {
    for (const script of Object.values(scripts)) expect(quoting.canSign(addressOf(script))).toBe(true)
    const hashOfScript = Uint8Array.from([0, 32, ...new Uint8Array(32).fill(5)])
    expect(quoting.canSign(addressOf(hashOfScript))).toBe(false)
  })
})

/** @source BIP 141, "Transaction size calculations"; Bitcoin Core, `GetDustThreshold` */
describe('sizes', () => {
  test.each([
    ['witness', [218, 286]],
    ['wrapped-witness', [242, 333]],
    ['public-key-hash', [300, 448]],
    ['taproot', [219, 277]],
  ] as const)('of a deposit from %s are those of the fact sheet', (kind, sizes) => {
    const change = kind === 'taproot' ? Uint8Array.from([0x51, 32, ...new Uint8Array(32)]) : scripts[kind]
    const outputs = [outputScript(depository, bitcoinMainnet), orderScript(orderId), change]
    expect(
      [1, 2].map((count) => virtualBytesOf({ inputs: Array.from({ length: count }, () => kind), outputs })),
    ).toEqual(sizes)
  })

  test('of dust are those of nodes', () => {
    const taproot = Uint8Array.from([0x51, 32, ...new Uint8Array(32)])
    expect(Object.values(scripts).map(dustOf)).toEqual([546n, 540n, 294n])
    expect([dustOf(taproot), inputKindOf(taproot)]).toEqual([330n, 'taproot'])
  })
})

const values = fc.array(fc.bigInt({ min: 1n, max: 10_000_000n }), { maxLength: 130 })
const choice = fc.record({
  values,
  amount: fc.bigInt({ min: 1n, max: 50_000_000n }),
  satPerKvb: fc.bigInt({ min: 0n, max: 300_000n }),
  kind: fc.constantFrom(...(Object.keys(scripts) as Kind[])),
})

describe('what is spent', () => {
  test('F-137: is amount, fee and change to the last satoshi, whatever the outputs', () => {
    fc.assert(
      fc.property(choice, ({ values: held, amount, satPerKvb, kind }) => {
        const at = new BitcoinFees({ satPerKvb })
        const { funding } = plan(
          routeOf(addressOf(scripts[kind]), { amountIn: amount }),
          outputsOf(scripts[kind], held),
          at,
        )
        if (funding?.kind !== 'chosen') {
          // The largest together do not pay for the amount and their own bytes.
          const most = held.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, inputsMax)
          const worth = most.filter((value) => value > at.feeOf(149))
          const sum = worth.reduce((total, value) => total + value, 0n)
          expect(sum < amount + at.feeOf(128 + 149 * Math.max(1, worth.length)) + 600n).toBe(true)
          return
        }
        const { inputs, fee, change } = funding
        const spent = inputs.reduce((sum, { value }) => sum + value, 0n)
        expect(spent).toBe(amount + fee + change)
        const outputs = [
          outputScript(depository, bitcoinMainnet),
          orderScript(orderId),
          ...(change > 0n ? [scripts[kind]] : []),
        ]
        const least = at.feeOf(virtualBytesOf({ inputs: inputs.map(() => kind), outputs }))
        // The excess over the fee is at most dust plus the cost of a change output.
        expect(fee >= least && fee <= least + dustOf(scripts[kind]) + at.feeOf(36)).toBe(true)
        expect(change === 0n || change >= dustOf(scripts[kind])).toBe(true)
        expect(new Set(inputs.map(({ txid, vout }) => `${txid}:${vout}`)).size).toBe(inputs.length)
      }),
    )
  })

  test('does not depend on the order in which endpoints name outputs', () => {
    fc.assert(
      fc.property(choice, fc.func(fc.integer()), ({ values: held, amount, satPerKvb }, order) => {
        const outputs = outputsOf(scripts.witness, held)
        const route = routeOf(addressOf(scripts.witness), { amountIn: amount })
        const at = new BitcoinFees({ satPerKvb })
        const shuffled = outputs.toSorted((a, b) => order(a.vout) - order(b.vout))
        expect(plan(route, shuffled, at)).toEqual(plan(route, outputs, at))
      }),
    )
  })
})

test('a chain whose sweeping key is no key is refused at start, and one without a key has no deposit addresses', () => {
  const bind = (depositAddressKey?: Hex) =>
    bitcoinQuoting.bind({ chainId: 8_253_038, chainKey: 'bitcoin', codec, depository, depositAddressKey })
  expect(() => bind(`0x02${'5e'.repeat(32)}`)).toThrow('chains.bitcoin.depositAddressKey is no public key')
  expect(bind().depositAddresses).toBeUndefined()
  expect(bind(bytesToHex(publicKey)).depositAddresses).toMatchObject({ isKeptWhileSwept: true })
})
