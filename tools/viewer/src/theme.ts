// Dark or light: as the system has it, or as somebody chose.

let changed: () => void = () => {};

function setTheme(theme: string): void {
    document.documentElement.dataset.theme = theme;
    changed();
}

function keptTheme(): string | null {
    try {
        return localStorage.getItem('rtl-theme');
    } catch {
        return null; // a browser that keeps nothing for files
    }
}

export function toggleTheme(): void {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
        localStorage.setItem('rtl-theme', theme);
    } catch {
        // it holds as long as the page is open
    }
    setTheme(theme);
}

/** Sets the theme; `recolor` is called each time. */
export function startTheme(recolor: () => void): void {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    changed = recolor;
    setTheme(keptTheme() ?? (dark.matches ? 'dark' : 'light'));
    dark.addEventListener('change', () => {
        if (!keptTheme())
            setTheme(dark.matches ? 'dark' : 'light');
    });
}
