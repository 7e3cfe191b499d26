import type { Hex } from '@causeway/core'
import type { CodeSpan } from './compile.ts'
import type { DeployedName } from './renderCodes.ts'

/** Code of a contract that another party deployed and that services accept in place of this release's. */
export type PublicCode = {
  /** Contract of this release that it can stand for. */
  readonly name: DeployedName
  /** Name of the build, for reports. */
  readonly build: string
  /** Known addresses, lower case. */
  readonly addresses: readonly Hex[]
  /** By `codeHashOf`: immutables count as zeros. */
  readonly codeHash: Hex
  readonly immutables: readonly CodeSpan[]
  /** Evidence that this is the code of the published sources. */
  readonly source: string
}

const source =
  'github.com/relayprotocol/relay-depository at 490858d742d1083bc4e3c2884798f6491dc72abb, built with its own settings: CREATE2 of the public proxy, salt 1, for its documented arguments gives the address'
const immutablesFrom = (...starts: readonly number[]) => starts.map((start) => ({ start, length: 32 }))

const hubRecord = (commit: string) =>
  `github.com/relayprotocol/relay-settlement at ${commit}, record of the deployment (smart-contracts/ignition/deployments/chain-537713): the creation code that was sent, the deployer and its nonce, which CREATE derives the address from. The sources, built by solc 0.8.28 for Paris without metadata, give this creation code`

/**
 * Public contracts whose code is proven to be that of their published sources, without trusting a chain or an explorer.
 * For the depositories the address is the proof, because CREATE2 derives it from the creation code. The hub's contracts
 * were deployed by CREATE, which derives the address from the sender alone, so their proof is the deployer's published
 * record of the deployment.
 */
export const publicCodes: readonly PublicCode[] = [
  {
    name: 'Depository',
    build: 'public depository, Cancun',
    source,
    addresses: ['0x4cd00e387622c35bddb9b4c962c136462338bc31'],
    codeHash: '0xf3adbf307ebc9bd2fc8dccc2ba2173f4cbe60ec637587911483c120beceeb766',
    immutables: immutablesFrom(8_163, 8_259, 8_292, 8_505, 8_538),
  },
  {
    name: 'Depository',
    build: 'public depository, London',
    source,
    addresses: ['0x59916da825d2d2ec1bf878d71c88826f6633ecca'],
    codeHash: '0xa6242b345bc41fcb2216c543fe479407e05d091d84abbb5914a7628afdbc93f2',
    immutables: immutablesFrom(8_311, 8_407, 8_440, 8_654, 8_687),
  },
  {
    name: 'Hub',
    build: 'public hub',
    source: hubRecord('28171825207f7266b8693d0bb81c1ce154135b50'),
    addresses: ['0xddd361727c22a01eb137880678a20b0beae69318'],
    codeHash: '0x0de682b368b6f7f9bdc380f824f02dd8cc0f09f42dc4d183b3520259a5e58ac1',
    immutables: immutablesFrom(5_143, 5_185, 5_227, 5_308, 5_348, 5_752, 5_797),
  },
  {
    name: 'GenericMapping',
    build: 'public generic mapping',
    source: hubRecord('259955537ff4befe305f2ea67431272a85538641'),
    addresses: ['0x822b4c4713433c6b88547845850a39343bf0957e'],
    codeHash: '0x2deb34ac17c254dcfd6ec713bfb0cd61aabfdef5f2271a994f6107767d1e24cb',
    immutables: immutablesFrom(3_044, 3_094, 3_145, 3_187, 3_229, 3_310, 3_350),
  },
]
