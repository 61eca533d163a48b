// Light or dark: as the system has it, until the user says otherwise.

const kDark = window.matchMedia('(prefers-color-scheme: dark)');

export class Theme {
  private chosen: boolean | null = null;
  onChange: (dark: boolean) => void = () => {};

  constructor() {
    kDark.addEventListener('change', () => this.apply());
  }

  get dark(): boolean {
    return this.chosen ?? kDark.matches;
  }
  toggle(): void {
    this.chosen = !this.dark;
    this.apply();
  }
  apply(): void {
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    this.onChange(this.dark);
  }
}
