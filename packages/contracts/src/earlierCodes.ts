// Codes of earlier releases that services still rely on: an upgrade asks nobody to deploy anew.
import type { Hex } from '@causeway/core'
import type { CodeSpan } from './compile.ts'
import type { DeployedName } from './renderCodes.ts'

/** Code of a contract of an earlier release that differs from this release's, and does all that services rely on. */
export type EarlierCode = {
  readonly name: DeployedName
  /** Hash of its code with immutables as zeros. */
  readonly codeHash: Hex
  readonly immutables: readonly CodeSpan[]
}

const immutablesAt = (...starts: readonly number[]) => starts.map((start) => ({ start, length: 32 }))

/** Release 0.2.0. Its contracts copy a call's whole return data; otherwise they act as those of this one. */
export const earlierCodes: readonly EarlierCode[] = [
  {
    name: 'FillContract',
    codeHash: '0xa09b6e21fe31185ccad3290ac9c57b13d50cc1d16e87b9046966a3716ac2221e',
    immutables: immutablesAt(245, 1_182, 2_507),
  },
  {
    name: 'CleanupRouter',
    codeHash: '0xf5ea6d600807451f21e65ea16f08a141056877cbac36759996f041c68da40256',
    immutables: immutablesAt(),
  },
  {
    name: 'DepositRouter',
    codeHash: '0x3a73d1b54e5a400a28598ef47a1703277038885a7e64d5e697c20fa372388f3c',
    immutables: immutablesAt(
      120,
      287,
      375,
      426,
      2_215,
      2_531,
      2_716,
      2_834,
      2_894,
      3_135,
      3_259,
      3_433,
      3_474,
      3_734,
      3_862,
    ),
  },
  {
    name: 'DepositAddresses',
    codeHash: '0x53ca4c23e68f2a3a2fec3aaebaf9c8f593580ba6d085c019dea8d6e5a904cf70',
    immutables: immutablesAt(276, 422, 589, 2_901, 2_940),
  },
  {
    name: 'PermitRouter',
    codeHash: '0x3e73d8200bb6bf82f5c5023009a7adb06df38264bbba30c7eb9d2b43bf8a21fc',
    immutables: immutablesAt(265, 353, 1_897, 1_961),
  },
  {
    name: 'Permit2Router',
    codeHash: '0x394654ace708abe5437e04f56c3e9a8419433fbc0804bf1b93939c7d33ab674b',
    immutables: immutablesAt(),
  },
  {
    name: 'Depository',
    codeHash: '0x7eaa90ee8dbecaee96c8c02a47d0efc2e47a6e98bb54494e43e49da30dfe9b5c',
    immutables: immutablesAt(330, 3_447),
  },
  {
    name: 'HubOracle',
    codeHash: '0x3664ddd638b1c44894023b0a472b215bc2e7eea9a9e8623571e3bbc2921eadbd',
    immutables: immutablesAt(352, 558, 3_243, 3_456, 3_632, 3_928),
  },
  {
    name: 'GenericMapping',
    codeHash: '0xc5f5148471fc4cfb344b84de9a8724c69a28320399118392610aa29789bd835b',
    immutables: immutablesAt(374, 3_312),
  },
  {
    name: 'Allocator',
    codeHash: '0x4291e179a10a1414357377f24398329bce6ba4506137b1158a3f9a53139258e1',
    immutables: immutablesAt(427, 3_338),
  },
]
