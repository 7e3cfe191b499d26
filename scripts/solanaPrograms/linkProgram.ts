/**
 * Makes a program that Solana loads (sBPF version 0) from one object that `clang -target bpf` compiled:
 * code and constants at their file offsets, and a dynamic section that names the system calls.
 * @source Solana sBPF documentation, "ELF"; System V ABI, "Object Files"
 */
export function linkProgram(object: Buffer): Buffer {
  const input = readObject(object)
  const layout = layOut(input)
  const output = Buffer.alloc(layout.end)
  input.text.copy(output, layout.text)
  input.rodata.copy(output, layout.rodata)
  const relocations = relocate(output, input, layout)
  writeDynamic(output, layout, relocations.length)
  writeSymbols(output, input.syscalls, layout)
  for (const [index, { at, symbol }] of relocations.entries()) {
    output.writeBigUInt64LE(BigInt(at), layout.relocations + 16 * index)
    output.writeBigUInt64LE(
      (BigInt(symbol) << 32n) | BigInt(relocationKind.call),
      layout.relocations + 16 * index + 8,
    )
  }
  writeHeaders(output, layout, layout.text + input.entrypoint)
  return output
}

/** Virtual address at which the loader maps a program's own bytes. */
const programStart = 0x1_0000_0000n
const relocationKind = { load64: 1, call: 10 } as const
const sectionKind = { progbits: 1, symtab: 2, strtab: 3, dynamic: 6, rel: 9, dynsym: 11 } as const
const headerBytes = 64
const programHeaderBytes = 56
const sectionHeaderBytes = 64
const symbolBytes = 24
const dynamicTags = { strtab: 5, symtab: 6, strsz: 10, syment: 11, rel: 17, relsz: 18, relent: 19 } as const

type Section = {
  readonly name: string
  readonly kind: number
  readonly offset: number
  readonly size: number
}
type Relocation = { readonly at: number; readonly kind: number; readonly symbol: number }
type Symbol_ = { readonly name: string; readonly value: number; readonly section: number }

type LinkInput = {
  readonly text: Buffer
  readonly rodata: Buffer
  readonly relocations: readonly Relocation[]
  readonly symbols: readonly Symbol_[]
  readonly rodataSection: number
  /** Names of what the program calls and does not define. */
  readonly syscalls: readonly string[]
  /** Offset in the code. */
  readonly entrypoint: number
}

function readObject(object: Buffer): LinkInput {
  const sections = readSections(object)
  const bytesOf = (name: string) => {
    const found = sections.find((section) => section.name === name)
    return found === undefined ? Buffer.alloc(0) : object.subarray(found.offset, found.offset + found.size)
  }
  const allowed = new Set(['', '.strtab', '.symtab', '.text', '.rel.text', '.rodata', '.llvm_addrsig'])
  for (const { name } of sections)
    if (!allowed.has(name)) throw new Error(`a section ${name} cannot be linked`)
  const symbols = readSymbols(bytesOf('.symtab'), bytesOf('.strtab'))
  const relocations = readRelocations(bytesOf('.rel.text'))
  const called = relocations.filter(({ kind }) => kind === relocationKind.call)
  const entrypoint = symbols.find(({ name }) => name === 'entrypoint')
  if (entrypoint === undefined) throw new Error('the program has no entrypoint')
  return {
    text: bytesOf('.text'),
    rodata: bytesOf('.rodata'),
    relocations,
    symbols,
    rodataSection: sections.findIndex(({ name }) => name === '.rodata'),
    syscalls: [...new Set(called.map(({ symbol }) => symbols[symbol]?.name ?? ''))],
    entrypoint: entrypoint.value,
  }
}

function readSections(object: Buffer): readonly Section[] {
  const start = Number(object.readBigUInt64LE(40))
  const count = object.readUInt16LE(60)
  const raw = Array.from({ length: count }, (_, index) => {
    const at = start + sectionHeaderBytes * index
    return {
      nameAt: object.readUInt32LE(at),
      kind: object.readUInt32LE(at + 4),
      offset: Number(object.readBigUInt64LE(at + 24)),
      size: Number(object.readBigUInt64LE(at + 32)),
    }
  })
  const names = raw[object.readUInt16LE(62)]
  if (names === undefined) throw new Error('the object names no sections')
  return raw.map(({ nameAt, ...section }) => ({ ...section, name: textAt(object, names.offset + nameAt) }))
}

function readSymbols(symtab: Buffer, strtab: Buffer): readonly Symbol_[] {
  return Array.from({ length: symtab.length / symbolBytes }, (_, index) => ({
    name: textAt(strtab, symtab.readUInt32LE(symbolBytes * index)),
    section: symtab.readUInt16LE(symbolBytes * index + 6),
    value: Number(symtab.readBigUInt64LE(symbolBytes * index + 8)),
  }))
}

function readRelocations(rel: Buffer): readonly Relocation[] {
  return Array.from({ length: rel.length / 16 }, (_, index) => ({
    at: Number(rel.readBigUInt64LE(16 * index)),
    kind: rel.readUInt32LE(16 * index + 8),
    symbol: rel.readUInt32LE(16 * index + 12),
  }))
}

function textAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, bytes.indexOf(0, at))
}

const sectionNames = [
  '',
  '.text',
  '.rodata',
  '.dynamic',
  '.dynsym',
  '.dynstr',
  '.rel.dyn',
  '.shstrtab',
] as const
const programHeaders = 3

type Layout = {
  readonly text: number
  readonly textBytes: number
  readonly rodata: number
  readonly rodataBytes: number
  readonly dynamic: number
  readonly dynamicBytes: number
  readonly symbols: number
  readonly symbolsBytes: number
  readonly strings: number
  readonly stringsBytes: number
  readonly relocations: number
  readonly relocationsBytes: number
  readonly names: number
  readonly namesBytes: number
  readonly sections: number
  readonly end: number
}

function layOut({ text, rodata, relocations, syscalls }: LinkInput): Layout {
  let at = headerBytes + programHeaderBytes * programHeaders
  const place = (bytes: number) => {
    const start = at
    at = Math.ceil((at + bytes) / 8) * 8
    return start
  }
  const calls = relocations.filter(({ kind }) => kind === relocationKind.call)
  const sizes = {
    textBytes: text.length,
    rodataBytes: rodata.length,
    dynamicBytes: 16 * (Object.keys(dynamicTags).length + 1),
    symbolsBytes: symbolBytes * (syscalls.length + 1),
    stringsBytes: 1 + syscalls.join('\0').length + 1,
    relocationsBytes: 16 * calls.length,
    namesBytes: sectionNames.join('\0').length + 1,
  }
  const places = {
    text: place(sizes.textBytes),
    rodata: place(sizes.rodataBytes),
    dynamic: place(sizes.dynamicBytes),
    symbols: place(sizes.symbolsBytes),
    strings: place(sizes.stringsBytes),
    relocations: place(sizes.relocationsBytes),
    names: place(sizes.namesBytes),
    sections: place(sectionHeaderBytes * sectionNames.length),
  }
  return { ...sizes, ...places, end: at }
}

/** Resolves loads of constants in place; returns what the loader must resolve: calls of the system. */
function relocate(
  output: Buffer,
  { relocations, symbols, rodataSection, syscalls }: LinkInput,
  layout: Layout,
): readonly { readonly at: number; readonly symbol: number }[] {
  return relocations.flatMap(({ at, kind, symbol }) => {
    const place = layout.text + at
    const target = symbols[symbol]
    if (target === undefined) throw new Error('a relocation names no symbol')
    if (kind === relocationKind.call) {
      if (target.section !== 0) throw new Error(`${target.name} was not inlined`)
      output.writeInt32LE(-1, place + 4)
      return [{ at: place, symbol: 1 + syscalls.indexOf(target.name) }]
    }
    if (kind !== relocationKind.load64 || target.section !== rodataSection) {
      throw new Error(`a relocation of kind ${kind} cannot be linked`)
    }
    const addend = BigInt(output.readUInt32LE(place + 4))
    const address = programStart + BigInt(layout.rodata + target.value) + addend
    output.writeUInt32LE(Number(address & 0xffff_ffffn), place + 4)
    output.writeUInt32LE(Number(address >> 32n), place + 12)
    return []
  })
}

function writeDynamic(output: Buffer, layout: Layout, relocationCount: number): void {
  const entries = [
    [dynamicTags.rel, layout.relocations],
    [dynamicTags.relsz, 16 * relocationCount],
    [dynamicTags.relent, 16],
    [dynamicTags.symtab, layout.symbols],
    [dynamicTags.syment, symbolBytes],
    [dynamicTags.strtab, layout.strings],
    [dynamicTags.strsz, layout.stringsBytes],
  ] as const
  for (const [index, [tag, value]] of entries.entries()) {
    output.writeBigUInt64LE(BigInt(tag), layout.dynamic + 16 * index)
    output.writeBigUInt64LE(BigInt(value), layout.dynamic + 16 * index + 8)
  }
}

function writeSymbols(output: Buffer, syscalls: readonly string[], layout: Layout): void {
  output.write(`\0${syscalls.join('\0')}\0`, layout.strings, 'latin1')
  let nameAt = 1
  for (const [index, name] of syscalls.entries()) {
    const at = layout.symbols + symbolBytes * (index + 1)
    output.writeUInt32LE(nameAt, at)
    // Global, of no type, undefined.
    output.writeUInt8(0x10, at + 4)
    nameAt += name.length + 1
  }
}

function writeHeaders(output: Buffer, layout: Layout, entrypoint: number): void {
  Buffer.from('7f454c460201010000000000000000000300f70001000000', 'hex').copy(output)
  output.writeBigUInt64LE(BigInt(entrypoint), 24)
  output.writeBigUInt64LE(BigInt(headerBytes), 32)
  output.writeBigUInt64LE(BigInt(layout.sections), 40)
  output.writeUInt16LE(headerBytes, 52)
  output.writeUInt16LE(programHeaderBytes, 54)
  output.writeUInt16LE(programHeaders, 56)
  output.writeUInt16LE(sectionHeaderBytes, 58)
  output.writeUInt16LE(sectionNames.length, 60)
  output.writeUInt16LE(sectionNames.length - 1, 62)
  writeSegments(output, layout)
  writeSections(output, layout)
}

function writeSegments(output: Buffer, layout: Layout): void {
  const load = 1
  const dynamic = 2
  const segments = [
    [load, 5, layout.text, layout.rodata + layout.rodataBytes - layout.text],
    [load, 4, layout.dynamic, layout.relocations + layout.relocationsBytes - layout.dynamic],
    [dynamic, 4, layout.dynamic, layout.dynamicBytes],
  ] as const
  for (const [index, [kind, flags, start, size]] of segments.entries()) {
    const at = headerBytes + programHeaderBytes * index
    output.writeUInt32LE(kind, at)
    output.writeUInt32LE(flags, at + 4)
    for (const field of [8, 16, 24]) output.writeBigUInt64LE(BigInt(start), at + field)
    for (const field of [32, 40]) output.writeBigUInt64LE(BigInt(size), at + field)
    output.writeBigUInt64LE(8n, at + 48)
  }
}

function writeSections(output: Buffer, layout: Layout): void {
  const [allocated, executable] = [2, 6]
  const rows: readonly (readonly [
    kind: number,
    flags: number,
    start: number,
    size: number,
    link: number,
    entry: number,
  ])[] = [
    [0, 0, 0, 0, 0, 0],
    [sectionKind.progbits, executable, layout.text, layout.textBytes, 0, 0],
    [sectionKind.progbits, allocated, layout.rodata, layout.rodataBytes, 0, 0],
    [sectionKind.dynamic, allocated, layout.dynamic, layout.dynamicBytes, 5, 16],
    [sectionKind.dynsym, allocated, layout.symbols, layout.symbolsBytes, 5, symbolBytes],
    [sectionKind.strtab, allocated, layout.strings, layout.stringsBytes, 0, 0],
    [sectionKind.rel, allocated, layout.relocations, layout.relocationsBytes, 4, 16],
    [sectionKind.strtab, 0, layout.names, layout.namesBytes, 0, 0],
  ]
  output.write(`${sectionNames.join('\0')}\0`, layout.names, 'latin1')
  let nameAt = 0
  for (const [index, [kind, flags, start, size, link, entry]] of rows.entries()) {
    const at = layout.sections + sectionHeaderBytes * index
    output.writeUInt32LE(nameAt, at)
    output.writeUInt32LE(kind, at + 4)
    output.writeBigUInt64LE(BigInt(flags), at + 8)
    output.writeBigUInt64LE(flags === 0 ? 0n : BigInt(start), at + 16)
    output.writeBigUInt64LE(BigInt(start), at + 24)
    output.writeBigUInt64LE(BigInt(size), at + 32)
    output.writeUInt32LE(link, at + 40)
    output.writeBigUInt64LE(index === 0 ? 0n : 8n, at + 48)
    output.writeBigUInt64LE(BigInt(entry), at + 56)
    nameAt += (sectionNames[index] ?? '').length + 1
  }
}
