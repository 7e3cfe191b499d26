export { type Arguments, type CommandForm, doctor, type Flag } from './commandForm.ts'
export { type End, oneCommand, type Program, readCommandLine, takeCommandLine } from './commandLine.ts'
